import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { nativeMistakes } from '../files/config/helpers.js';

const text = (name: string) => readFileSync(`examples/${name}`, 'utf8');

it.each(['many-addresses.yaml', 'cluster/bench-1.yaml', 'cluster/bench-2.yaml'])(
  '%s has no mistakes',
  (name) => {
    expect(nativeMistakes(text(name))).toEqual([]);
  },
);

it('the compose file mounts benches that are there', () => {
  const { services } = parse(text('cluster/compose.yaml'), { merge: true });
  const mounted = Object.values(services).flatMap(
    (service) => (service as { volumes?: string[] }).volumes ?? [],
  );
  expect(mounted.map((volume) => volume.split(':')[0])).toEqual(['./bench-1.yaml', './bench-2.yaml']);
});

it('the manifest for Kubernetes has a bench without mistakes, on the port that its pods show', () => {
  const [map, service, pods] = parseAllDocuments(text('cluster/kubernetes.yaml')).map((each) => each.toJS());
  const bench = map.data['bench.yaml'];
  expect(nativeMistakes(bench)).toEqual([]);
  const { port } = parse(bench).lines.plant.tcp;
  expect(service.spec.ports[0].port).toBe(port);
  expect(pods.spec.template.spec.containers[0].ports[0].containerPort).toBe(port);
});
