import { describe, expect, it } from 'vitest';
import { unreachableReason } from '../../../src/common/rest-client/client.js';

/** What `fetch` throws. */
function failure(code: string, message: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });
}

describe('Why nobody answered', () => {
  it('is that nobody listens', () => {
    const refused = failure('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:8080');
    expect(unreachableReason(refused)).toBe('nothing listens there');
  });

  it('names the way to trust a certificate of one’s own', () => {
    const selfSigned = failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate');
    expect(unreachableReason(selfSigned)).toBe(
      'self-signed certificate; to trust another certificate, set NODE_EXTRA_CA_CERTS=FILE',
    );
  });

  it('is else what the system says, or fetch where the system says nothing', () => {
    expect(unreachableReason(failure('ENOTFOUND', 'getaddrinfo ENOTFOUND bench'))).toBe(
      'getaddrinfo ENOTFOUND bench',
    );
    expect(unreachableReason(new TypeError('fetch failed'))).toBe('fetch failed');
  });
});
