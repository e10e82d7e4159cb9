import { describe, expect, it } from 'vitest';
import { readHosts } from '../../../src/document/native/endpoints.js';
import { cursor, mistakesOf } from '../helpers.js';

function read(hosts: unknown) {
  const at = cursor({ hosts });
  return { read: readHosts(at.key('hosts')), mistakes: mistakesOf(at) };
}

const FORM = 'expected IPv4 addresses and ranges of them, such as 127.1.0.1-127.1.3.232, separated by commas';

describe('the addresses of a line', () => {
  it('are a range, which may go beyond the last byte', () => {
    const hosts = read('127.1.0.1-127.1.3.232').read?.hosts ?? [];
    expect(hosts).toHaveLength(1000);
    expect([hosts[0], hosts[254], hosts[255], hosts[999]]).toEqual([
      '127.1.0.1',
      '127.1.0.255',
      '127.1.1.0',
      '127.1.3.232',
    ]);
  });

  it('may be listed, one by one and as ranges', () => {
    expect(read('10.0.0.7,10.0.1.1 - 10.0.1.2').read).toEqual({
      host: '10.0.0.7, 10.0.1.1 - 10.0.1.2',
      hosts: ['10.0.0.7', '10.0.1.1', '10.0.1.2'],
    });
  });

  it.each([
    [7, `${FORM}, got 7`],
    ['', `${FORM}, got ""`],
    ['127.1.0.1-', `${FORM}, got "127.1.0.1-"`],
    ['127.1.0.9-127.1.0.1', `${FORM}, got "127.1.0.9-127.1.0.1"`],
    ['127.1.0.1-127.1.0.2-127.1.0.3', `${FORM}, got "127.1.0.1-127.1.0.2-127.1.0.3"`],
    ['127.1.0.256', `${FORM}, got "127.1.0.256"`],
    ['::1', `${FORM}, got "::1"`],
    ['fe80::1-fe80::9', `${FORM}, got "fe80::1-fe80::9"`],
    ['pi.local', `${FORM}, got "pi.local"`],
    [
      '0.0.0.0-255.255.255.255',
      '0.0.0.0 means every address of this machine: use it as host, or list the addresses',
    ],
    [
      '1.0.0.0-255.255.255.255',
      'expected at most 4096 addresses, got 4278190080 with 1.0.0.0-255.255.255.255',
    ],
    [
      '127.1.0.1-127.1.15.255,127.2.0.1, 127.2.0.2',
      'expected at most 4096 addresses, got 4097 with 127.2.0.2',
    ],
    ['127.1.0.1-127.1.0.9,127.1.0.9', '127.1.0.9 is listed twice'],
  ])('are not %j', (hosts, message) => {
    expect(read(hosts)).toEqual({ read: undefined, mistakes: [`hosts: ${message}`] });
  });
});
