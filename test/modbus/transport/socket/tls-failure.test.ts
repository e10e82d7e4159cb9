import { expect, test } from 'vitest';
import { tlsFailure } from '../../../../src/modbus/transport/socket/tls.js';

const failure = (code: string) => tlsFailure(Object.assign(new Error('alert'), { code }), undefined);

// OpenSSL 3.5, which Node 22 and 24 have, names these alerts differently.
test.each(['SSLV3_ALERT', 'SSL/TLS_ALERT'])(
  'the alerts of a client about our certificate, as %s',
  (alert) => {
    for (const what of ['BAD_CERTIFICATE', 'CERTIFICATE_EXPIRED', 'CERTIFICATE_UNKNOWN']) {
      expect(failure(`ERR_SSL_${alert}_${what}`)).toBe(
        'the client does not accept the certificate of this line',
      );
    }
  },
);

test('a failure that is not known is told in the words of OpenSSL', () => {
  const error = Object.assign(new Error('no'), { code: 'ERR_SSL_X', reason: 'some reason' });
  expect(tlsFailure(error, undefined)).toBe('the TLS handshake failed: some reason');
});
