/**
 * The key `then` of a rule. As a constant, it keeps an object with this key from looking like a promise; no
 * code awaits a rule.
 */
export const THEN = 'then';
