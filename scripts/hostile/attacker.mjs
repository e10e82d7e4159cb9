import { setPriority } from 'node:os';
import { ATTACKS } from './attacks.mjs';
import { SERVER_ATTACKS } from './hostile-servers.mjs';
import { REST_ATTACKS } from './rest-attacks.mjs';

/*
 * The bad client, in a process of its own. Told the name of an attack, a target and how much of it, it does that and
 * tells how much it was.
 */

// Where there are few processors, it must not be the attacker's share of them that is measured.
setPriority(19);

process.on('message', async (/** @type {any} */ { name, target, ms, count }) => {
  const attack = [...ATTACKS, ...REST_ATTACKS, ...SERVER_ATTACKS].find(
    (each) => each.name === name && each.on.includes(target.kind),
  );
  process.send?.(await attack?.run(target, { ms, count }));
});
process.on('disconnect', () => process.exit());
