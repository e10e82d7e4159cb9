import { setPriority } from 'node:os';
import { ATTACKS } from './attacks.mjs';
import { SERVER_ATTACKS } from './hostile-servers.mjs';
import { REST_ATTACKS } from './rest-attacks.mjs';

/*
 * The bad client, in a process of its own. An order names an attack, a target and how much of it; the answer says how
 * much it was, or what failed. With the argument `polite` it takes only what is left of the processors.
 */

// Where there are few processors, it must not be the attacker's share of them that is measured.
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
