import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApiOverrides } from '../../../src/document/api-definition.js';
import { loadNativeFile } from '../../../src/document/load.js';

const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-api-'));
afterAll(() => rmSync(directory, { recursive: true }));

function load(api: object, overrides: ApiOverrides = {}) {
  const file = join(directory, 'config.yaml');
  const devices = { meter: { registers: { holding: [{ address: 0 }] } } };
  const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
  writeFileSync(file, JSON.stringify({ devices, lines, api }));
  return loadNativeFile(file, overrides);
}

/** The mistakes in a section `api`. */
function mistakes(api: object, overrides: ApiOverrides = {}): string[] {
  const loaded = load(api, overrides);
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
}

function warnings(api: object, overrides: ApiOverrides = {}): string[] {
  return load(api, overrides).warnings.map(({ path, message }) => `${path}: ${message}`);
}

const LONG = '2f1c6d0b9a8e47c3b5d1e0f4a6978c12';

describe('the section api', () => {
  it('becomes plain data; paths of files begin where the file is', () => {
    const loaded = load({
      host: '0.0.0.0',
      token: LONG,
      readTokens: ['a-token-that-only-reads'],
      origins: ['https://bench.example.org', 'http://127.0.0.1:3000'],
      tls: { cert: 'rest.pem', key: '/etc/rest.key' },
      maxConnections: 5,
    });
    expect(loaded.ok && loaded.configuration.api).toEqual({
      host: '0.0.0.0',
      port: 8080,
      token: LONG,
      readTokens: ['a-token-that-only-reads'],
      origins: ['https://bench.example.org', 'http://127.0.0.1:3000'],
      files: { cert: join(directory, 'rest.pem'), key: '/etc/rest.key' },
      maxConnections: 5,
    });
  });

  it('may open REST to everybody when it says insecure, or has tokens for reading', () => {
    expect(mistakes({ host: '0.0.0.0' })).toHaveLength(1);
    expect(mistakes({ host: '0.0.0.0', insecure: false })).toHaveLength(1);
    expect(mistakes({ host: '0.0.0.0', insecure: true })).toEqual([]);
    expect(mistakes({ insecure: true }, { httpHost: '0.0.0.0' })).toEqual([]);
    expect(mistakes({ host: '0.0.0.0', readTokens: [LONG] })).toEqual([]);
    expect(mistakes({ host: '0.0.0.0', readTokens: [] })).toHaveLength(1);
    expect(mistakes({ insecure: 'yes' })).toEqual(['api.insecure: expected true or false, got "yes"']);
  });

  it.each([
    '*',
    'null',
    'bench.example.org',
    'https://bench.example.org/',
    'https://bench.example.org:443',
    'https://Bench.example.org',
    'https://user@bench.example.org',
    'ftp://bench.example.org',
    'https://',
  ])('refuses the origin %j, which no browser sends', (origin) => {
    expect(mistakes({ origins: [origin] })).toEqual([
      `api.origins[0]: expected the origin of a site, such as https://bench.example.org, got "${origin}"`,
    ]);
  });

  it('names what is missing of certificate and key', () => {
    expect(mistakes({ tls: {} })).toEqual([
      'api.tls.cert: missing, expected the path of a certificate (PEM)',
      'api.tls.key: missing, expected the path of its private key (PEM)',
    ]);
  });

  it('refuses a token that is there twice, and one that no header can carry', () => {
    expect(mistakes({ token: LONG, readTokens: ['other-token-of-a-reader', LONG] })).toEqual([
      'api.readTokens[1]: is the same as another token',
    ]);
    expect(mistakes({ readTokens: [LONG] }, { token: LONG })).toEqual([
      'api.readTokens[0]: is the same as another token',
    ]);
    expect(mistakes({ readTokens: ['with a space in between'] })).toEqual([
      'api.readTokens[0]: expected ASCII characters without spaces: clients send it in an HTTP header',
    ]);
  });

  it('has a warning for each token of less than 16 characters', () => {
    const warning =
      'a token of fewer than 16 characters can be guessed; openssl rand -hex 16 makes a good one';
    expect(warnings({ token: LONG, readTokens: ['0123456789abcdef'] })).toEqual([]);
    expect(warnings({ token: '0123456789abcde', readTokens: ['short'] })).toEqual([
      `api.token: ${warning}`,
      `api.readTokens[0]: ${warning}`,
    ]);
    expect(warnings({ token: 'short' }, { token: LONG })).toEqual([]);
    expect(warnings({ token: LONG }, { token: 'short' })).toEqual([`MODBUS_SIM_TOKEN: ${warning}`]);
  });
});
