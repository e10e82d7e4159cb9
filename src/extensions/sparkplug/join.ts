import type { SparkplugDefinition } from '../../document/configuration.js';
import type { ApiContext } from '../../remote/api/desk.js';
import { errorBody } from '../../remote/api/error-answer.js';
import { Broker } from '../../remote/mqtt/broker.js';
import type { LinkPart, LinkSide } from '../../remote/mqtt/part.js';
import { allParts } from '../../remote/rpc/rpc.js';
import { SparkplugNode } from './node.js';

/** Makes the bench a Sparkplug B edge node with its own connection. */
export function joinAsNode(desk: ApiContext, link: LinkSide, names: SparkplugDefinition): LinkPart {
  const { definition, credentials } = link.order;
  const { client, commands, publish } = definition;
  const node = new SparkplugNode({
    ...names,
    mayWrite: commands === 'all',
    every: publish.every,
    connect: (events) => {
      // Commands are subscribed to with QoS 1, whatever QoS the simulator uses (Sparkplug 3.0, 5.4). The node
      // needs its own client identifier, because each identifier is valid for one connection only.
      const settings = {
        ...definition,
        credentials,
        qos: 1,
        ...(client && { client: `${client}-sparkplug` }),
      } as const;
      return new Broker(settings, { ...events, log: link.logOf('MQTT, Sparkplug') });
    },
    valuesOf: async (device) => {
      const values = await allParts(await desk.rpc.list('value.named', { device }));
      return 'ok' in values ? undefined : values;
    },
    write: link.write,
    attempt: link.attempt,
    refused: (topic, why) => link.report('refused', { topic, ...errorBody(why) }),
  });
  return {
    get status() {
      return { sparkplug: node.status };
    },
    get isReady() {
      return node.isReady;
    },
    look: (now, devices) => node.look(now, devices),
    report: (device, values) => node.report(device, values),
    stop: () => node.stop(),
  };
}
