/** The error codes of Node for a certificate without a trusted signer. */
const UNKNOWN_SIGNERS: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Why `fetch` got no answer, in words. `fetch` keeps the reason of the system in `cause`. */
export function unreachableReason({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'nobody listens there';
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
  if (!UNKNOWN_SIGNERS.has(code)) return reason;
  return `${reason}; NODE_EXTRA_CA_CERTS=FILE in the environment names a certificate to trust`;
}
