/**
 * Headers of every answer, for browsers. They are those of helmet that mean something here. Pages get scripts, styles
 * and data from this server only. Strict-Transport-Security is left out: it would hold for all ports of the machine,
 * where other programs may serve plain HTTP.
 */
export const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;
