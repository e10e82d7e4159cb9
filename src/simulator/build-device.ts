import type { DeviceDefinition } from '../config/configuration.js';
import { DependencyGraph } from '../device/dependency-graph.js';
import { Device } from '../device/device.js';
import { Files } from '../device/files.js';
import { identityObjects } from '../device/identification.js';
import type { ActionSource } from '../registers/actions.js';
import { RegisterImage } from '../registers/image.js';
import type { RegisterLayout } from '../registers/layout.js';
import { Table } from '../registers/table.js';

/** Builds a device with its registers as configured. Tables with the same layout share one image. */
export function buildDevice(
  { name, identity, extras, tables, cells, life }: DeviceDefinition,
  source: ActionSource,
  graph: DependencyGraph = new DependencyGraph(),
  now: () => number = () => performance.now(),
): Device {
  const images = new Map<RegisterLayout, RegisterImage>();
  const restart = () => device.restart();
  const imageOf = (layout: RegisterLayout) => {
    const image = images.get(layout) ?? new RegisterImage(layout, source, restart);
    images.set(layout, image);
    return image;
  };
  const table = (tableName: keyof typeof tables) => {
    const { layout, ...window } = tables[tableName];
    return new Table({ image: imageOf(layout), ...window });
  };
  const { files, ...others } = extras;
  const device: Device = new Device({
    name,
    identity: identityObjects(identity, identity.extended),
    ...others,
    ...(files && { files: new Files(files) }),
    tables: {
      coils: table('coils'),
      discrete: table('discrete'),
      input: table('input'),
      holding: table('holding'),
    },
    ...(cells && { cells: imageOf(cells) }),
    ...(life && { life }),
    graph,
    now,
  });
  return device;
}
