import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tokenOfService } from '../../../src/cli/service/credential.js';

function directories() {
  const root = mkdtempSync(join(tmpdir(), 'modbus-sim-credential-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const service = join(root, 'service');
  mkdirSync(service);
  return { root, service, token: join(service, 'token') };
}

describe('the token of a service', () => {
  it('is known of for the configurations in its directory, under any name of that', () => {
    const { root, service, token } = directories();
    writeFileSync(token, 'secret\n');
    symlinkSync(service, join(root, 'link'));
    expect(tokenOfService(join(service, 'config.yaml'), service)).toBe(token);
    expect(tokenOfService(join(root, 'link', 'bench.yaml'), service)).toBe(token);
  });

  it('is none of a configuration elsewhere, even beside a file of that name', () => {
    const { root, service, token } = directories();
    writeFileSync(token, 'secret\n');
    writeFileSync(join(root, 'token'), 'secret\n');
    expect(tokenOfService(join(root, 'config.yaml'), service)).toBeUndefined();
    expect(tokenOfService(join(root, 'nowhere', 'config.yaml'), service)).toBeUndefined();
  });

  it('is none when its file is empty or missing', () => {
    const { service, token } = directories();
    expect(tokenOfService(join(service, 'config.yaml'), service)).toBeUndefined();
    writeFileSync(token, '');
    expect(tokenOfService(join(service, 'config.yaml'), service)).toBeUndefined();
  });
});
