import { setPriority } from 'node:os';
import { ATTACKS } from './attacks.mjs';
import { SERVER_ATTACKS } from './hostile-servers.mjs';
import { REST_ATTACKS } from './rest-attacks.mjs';

/*
 * The attacker, in its own process. An order names an attack, a target and an amount; the answer says how
 * much was done, or what failed. With the argument `polite` it uses only spare processor time.
 */

// With few processors, the measurement must not depend on the attacker's share of them.
if (process.argv.includes('polite')) setPriority(19);

process.on('message', async (/** @type {any} */ { name, target, ms, count }) => {
  const attack = [...ATTACKS, ...REST_ATTACKS, ...SERVER_ATTACKS].find(
    (each) => each.name === name && each.on.includes(target.kind),
  );
  process.send?.(
    await attack?.run(target, { ms, count }).then(
      (did) => ({ did }),
      (error) => ({ failed: `${name}: ${error.stack}` }),
    ),
  );
});
process.on('disconnect', () => process.exit());
