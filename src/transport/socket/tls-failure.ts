const NOT_TLS = 'the client does not speak TLS';
const UNKNOWN_CA = "the client's certificate is not signed by the CA of this line";
const OWN_REFUSED = 'the client does not accept the certificate of this line';
const TOO_OLD = 'the client speaks only versions of TLS before 1.2';

/** What OpenSSL says about a client's certificate. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the client's certificate has expired",
  CERT_NOT_YET_VALID: "the client's certificate is not valid yet",
  INVALID_PURPOSE: "the client's certificate is not made for TLS clients (extended key usage)",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CA,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  CERT_SIGNATURE_FAILURE: UNKNOWN_CA,
};

const HANDSHAKE_FAULTS: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'the client sent no certificate, this line demands one',
  ERR_SSL_UNSUPPORTED_PROTOCOL: TOO_OLD,
  ERR_SSL_VERSION_TOO_LOW: TOO_OLD,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_HTTP_REQUEST: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  ERR_SSL_BAD_RECORD_TYPE: NOT_TLS,
  ERR_SSL_UNEXPECTED_MESSAGE: NOT_TLS,
  ERR_SSL_NO_SHARED_CIPHER: 'the client and this line have no cipher in common',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: OWN_REFUSED,
  ERR_TLS_HANDSHAKE_TIMEOUT: 'the client did not end its TLS handshake in time',
  ECONNRESET: 'the client closed the connection during the TLS handshake',
};

/**
 * Why no TLS connection came about, in words.
 * @param error what the handshake ended with
 * @param certificateFault OpenSSL's name for what is wrong with the client's certificate, where that is the reason
 */
export function tlsFailure(error: NodeJS.ErrnoException, certificateFault: string | undefined): string {
  if (certificateFault !== undefined) {
    return (
      CERTIFICATE_FAULTS[certificateFault] ?? `the client's certificate is not valid (${certificateFault})`
    );
  }
  // OpenSSL 3.5, which newer versions of Node have, calls the alerts of SSLv3 "SSL/TLS".
  const known = HANDSHAKE_FAULTS[(error.code ?? '').replace('SSL/TLS_ALERT', 'SSLV3_ALERT')];
  if (known !== undefined) return known;
  const { reason = error.code ?? error.message } = error as { readonly reason?: string };
  return `the TLS handshake failed: ${reason}`;
}
