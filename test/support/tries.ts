/**
 * How often a property is tried: `npm run test:full` tries it so often, `npm test` a tenth as often. For properties that take
 * long; vitest.config.ts names their files, so that the full tier runs them too.
 */
export function tries(full: number): number {
  return process.env.MODBUS_SIM_ALL_TRIES === '1' ? full : Math.ceil(full / 10);
}
