import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { makeTempDir } from '../support/program.mjs';
import { describeWithPeer, isInstalled } from './peer.js';

const LIMIT_MS = 900_000;

const directory = makeTempDir();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const missing = ['buildah', 'mmdebstrap', 'socat', 'mbpoll', 'curl'].filter(
  (each) => !isInstalled(each, '--version'),
);
const noImage =
  missing.length > 0
    ? `there is no ${missing.join(', ')} (apt-get install --no-install-recommends buildah mmdebstrap socat mbpoll curl)`
    : undefined;
/** Also as root a container of its own may not be allowed to make namespaces. */
const mayRun = spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', 'true']).status === 0;
if (noImage === undefined && !mayRun)
  console.warn('the image: skipped, this user may make no namespaces: as root, scripts/container-trial.sh');

describeWithPeer('the image of the Containerfile', noImage, () => {
  it.runIf(mayRun)(
    'is built, and runs as its documents and the manifest for Kubernetes say',
    { timeout: LIMIT_MS },
    async () => {
      const said = await new Promise<string>((ended) => {
        execFile('bash', ['scripts/container-trial.sh'], (_, stdout, stderr) => ended(stdout + stderr));
      });
      expect(said).toMatch(/\n0 failed\n$/);
    },
  );
});

describe('by the schemas in packages of npm', () => {
  const read = (file: string) => readFileSync(`examples/${file}`, 'utf8');

  beforeAll(() => {
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', [
      'install',
      ...quiet,
      '--prefix',
      directory,
      'dclint@3.1.0',
      'kubernetes-models@4.5.1',
    ]);
  }, LIMIT_MS);

  it.each(['ci/compose.yaml', 'cluster/compose.yaml'])('%s is a compose file', (file) => {
    const schema = JSON.parse(
      readFileSync(join(directory, 'node_modules/dclint/schemas/compose.schema.json'), 'utf8'),
    );
    const validate = new Ajv({ strict: false, validateFormats: false }).compile({
      ...schema,
      $schema: undefined,
    });
    const services = parse(read(file), { merge: true });
    validate(services);
    expect(validate.errors).toBeNull();
    services.services[Object.keys(services.services)[0] as string].imgae = 'x';
    expect(validate(services)).toBe(false);
  });

  /** What `tsc` and `validate` say of the objects of a manifest: types find keys that are not known, `validate` wrong values. */
  const mistakes = (manifest: string): string => {
    const objects = parseAllDocuments(manifest).map(
      (each) => each.toJS() as { apiVersion: string; kind: string },
    );
    const program = objects.map(
      (
        object,
        i,
      ) => `import { ${object.kind} as Kind${i} } from 'kubernetes-models/${object.apiVersion}/${object.kind}';
        new Kind${i}(${JSON.stringify({ ...object, apiVersion: undefined, kind: undefined })}).validate();`,
    );
    writeFileSync(join(directory, 'manifest.ts'), program.join('\n'));
    writeFileSync(join(directory, 'manifest.mjs'), program.join('\n'));
    const tsc = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
      'manifest.ts',
    ];
    const run = (args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: directory,
        encoding: 'utf8',
      });
      return status === 0 ? '' : stdout + stderr;
    };
    return run([resolve('node_modules/typescript/bin/tsc'), ...tsc]) + run(['manifest.mjs']);
  };

  it('kubernetes.yaml has objects of Kubernetes', { timeout: LIMIT_MS }, () => {
    const manifest = read('cluster/kubernetes.yaml');
    expect(mistakes(manifest)).toBe('');
    expect(mistakes(manifest.replace('livenessProbe', 'livelinessProbe'))).toContain('livelinessProbe');
    expect(mistakes(manifest.replace('failureThreshold: 60', 'failureThreshold: many'))).toContain(
      'failureThreshold',
    );
  });
});

describeWithPeer(
  'examples/cluster/prometheus.yaml',
  isInstalled('promtool', '--version') ? undefined : 'there is no promtool (apt-get install prometheus)',
  () => {
    // Debian's Prometheus is built without the discovery of Kubernetes.
    it('is a configuration of Prometheus, with the pods in a list', () => {
      const discovery = 'kubernetes_sd_configs: [{role: pod}]';
      const [before, after] = readFileSync('examples/cluster/prometheus.yaml', 'utf8').split(discovery);
      const file = join(directory, 'prometheus.yaml');
      writeFileSync(file, `${before}static_configs: [{targets: ["10.9.0.7:8080"]}]${after}`);
      const args = ['check', 'config', '--syntax-only', file];
      expect(execFileSync('promtool', args, { encoding: 'utf8' })).toContain('SUCCESS');
    });
  },
);
