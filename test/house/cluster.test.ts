import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { nativeMistakes } from '../document/helpers.js';

const text = (name: string) => readFileSync(`examples/${name}`, 'utf8');
const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));

it.each(['many-addresses.yaml', 'cluster/bench-1.yaml', 'cluster/bench-2.yaml', 'ci/bench.yaml'])(
  '%s has no mistakes',
  (name) => {
    expect(nativeMistakes(text(name))).toEqual([]);
  },
);

describe('the image', () => {
  it('is built from files that .dockerignore lets through', () => {
    const [everything, ...letThrough] = readFileSync('.dockerignore', 'utf8').trim().split('\n');
    expect(everything).toBe('*');
    const patterns = letThrough.map(
      (each) => new RegExp(`^${each.slice(1).replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`),
    );
    const copies = readFileSync('Containerfile', 'utf8').matchAll(/^COPY (?!--from)(.*) \S+$/gm);
    const copied = [...copies].flatMap(([, sources = '']) => sources.split(' '));
    expect(copied).toContain('src');
    expect(copied.filter((file) => !patterns.some((pattern) => pattern.test(file)))).toEqual([]);
  });

  it('has in the compose files the name that the documents build it under, and is not fetched', () => {
    expect(readFileSync('docs/raspberry-pi.md', 'utf8')).toContain(`-t modbus-sim:${version} .`);
    for (const name of ['cluster/compose.yaml', 'ci/compose.yaml']) {
      const services = Object.values(parse(text(name), { merge: true }).services) as {
        image: string;
        pull_policy?: string;
      }[];
      const ours = services.filter(({ image }) => image.includes('modbus-sim'));
      expect(ours).toHaveLength(2);
      for (const each of ours)
        expect(each).toMatchObject({ image: `modbus-sim:${version}`, pull_policy: 'never', read_only: true });
    }
  });
});

it('no document, example or program fetches modbus-sim by its name, which others may have at a registry', () => {
  const FETCHES = [
    /npx (?!--no )(-\S+ )*(--yes|modbus-sim)/,
    /npm (install|i|add|exec)( -\S+)* modbus-sim/,
    // The README for Python says what this does.
    /pip3? install (-\S+ )*modbus-sim(?!` does not install)/,
    /(docker\.io|localhost)\/(\S+\/)?modbus-sim/,
  ];
  const files = ['docs', 'examples', 'packaging', 'python/src', 'scripts', 'src'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(md|ya?ml|py|mjs|ts|sh|cmd)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  const found = [...files, 'README.md', 'python/README.md', 'Containerfile'].flatMap((file) => {
    const content = readFileSync(file, 'utf8');
    return FETCHES.flatMap((fetches) => content.match(fetches)?.[0] ?? []).map((what) => `${file}: ${what}`);
  });
  expect(found).toEqual([]);
});

it('the compose file mounts benches that are there', () => {
  const { services } = parse(text('cluster/compose.yaml'), { merge: true });
  const mounted = Object.values(services).flatMap(
    (service) => (service as { volumes?: string[] }).volumes ?? [],
  );
  expect(mounted.map((volume) => volume.split(':')[0])).toEqual(['./bench-1.yaml', './bench-2.yaml']);
});

describe('the manifest for Kubernetes', () => {
  const [map, service, pods] = parseAllDocuments(text('cluster/kubernetes.yaml')).map((each) => each.toJS());
  const pod = pods.spec.template.spec;
  const [bench] = pod.containers;
  const file = map.data['bench.yaml'];

  it('has a bench without mistakes once it has the token, on the ports that its pods show', () => {
    expect(nativeMistakes(file)).toEqual([expect.stringContaining('MODBUS_SIM_TOKEN')]);
    const { lines, api } = parse(file);
    expect(nativeMistakes(file.replace('port: 8080', 'port: 8080, token: 0123456789abcdef'))).toEqual([]);
    const ports = { modbus: lines.plant.tcp.port, rest: api.port };
    for (const [name, port] of Object.entries(ports)) {
      expect(service.spec.ports).toContainEqual({ name, port });
      expect(bench.ports).toContainEqual({ name, containerPort: port });
    }
  });

  it('names one version of the image, at a registry that is nobody else’s', () => {
    expect(bench.image).toBe(`registry.example.org/you/modbus-sim:${version}`);
    expect(bench.imagePullPolicy).toBe('IfNotPresent');
  });

  it('probes over REST, which costs the bench no client', () => {
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(bench[probe].httpGet).toEqual({ path: '/healthz', port: 'rest' });
  });

  it('is found by the file for Prometheus', () => {
    const [{ relabel_configs }] = parse(text('cluster/prometheus.yaml')).scrape_configs;
    expect(relabel_configs[0].regex).toBe(`${pods.spec.template.metadata.labels.app};rest`);
  });

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/, restricted
  it('is admitted under the Pod Security Standard "restricted"', () => {
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(bench.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    for (const host of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers'])
      expect(pod).not.toHaveProperty(host);
    expect(pod.volumes.flatMap(Object.keys).sort()).toEqual(['configMap', 'name']);
    // The kubelet knows that a number is not root; of a name it does not.
    expect(readFileSync('Containerfile', 'utf8')).toMatch(/^USER [1-9]\d*:\d+$/m);
  });
});
