import type { ServerCheck } from '../check.js';

export const CONNECTIONS: readonly ServerCheck[] = [];
