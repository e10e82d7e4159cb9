/**
 * The key `then` of a rule. A name of its own keeps an object with this key from looking like a promise;
 * nothing awaits a rule.
 */
export const THEN = 'then';
