import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { run, runHere } from './run.js';

const usage = (...args: string[]) => runHere(args);

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe('modbus-sim', () => {
  it('--help names every command and option', async () => {
    const { code, stdout, stderr } = await usage('--help');
    expect(code).toBe(0);
    for (const word of ['check FILE', 'ports', '--config', '--json_file', '--http_port', '--log_file'])
      expect(stdout).toContain(word);
    expect(stderr).toBe('');
  });

  it('--version prints the version and nothing else', async () => {
    expect(await run(['--version'], tmpdir())).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('ports lists ports by their paths, or says that there is none', async () => {
    const { code, stdout, stderr } = await usage('ports');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^(no serial ports found|\/dev\/\S+ .*)\n/);
    expect(stderr).toBe('');
  });

  it('catalogue lists what real devices do wrong, and explains an entry', async () => {
    expect((await usage('catalogue')).stdout).toMatch(
      /^sleeps +The first request after a pause only wakes the device$/m,
    );
    const { code, stdout } = await usage('catalogue', 'sleeps');
    expect(code).toBe(0);
    for (const word of ['manners: {sleeps: {after: 30000, wakes: 1}}', 'https://github.com/'])
      expect(stdout).toContain(word);
    expect(await usage('catalogue', 'sleepy')).toMatchObject({ code: 2, stdout: '' });
    expect(await runHere(['--misbehave', 'sleepy'])).toMatchObject({ code: 1, stdout: '' });
  });

  it.each([
    ['an unknown option', ['--confg', 'x'], 'unknown option "--confg", did you mean --config?'],
    ['an unknown command', ['serve'], 'unknown command "serve"'],
    ['an option without its value', ['--config'], '--config needs a value'],
  ])('refuses %s with one line and exit code 2', async (_, args, message) => {
    const { code, stdout, stderr } = await usage(...args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
