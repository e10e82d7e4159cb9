import { transactionOf } from '../../exchange.js';
import { damageCheck } from './damage.js';

/** Far from what the client uses next: many count up by one. */
const AWAY = 0x4000;

/** A reply with another transaction identifier. */
export const wrongTransaction = damageCheck({
  id: 'wrong-transaction',
  title: 'Throws away a reply with another transaction identifier',
  what: 'a reply with another transaction identifier',
  does: 'Sends one reply with a transaction identifier that the client has not used of late.',
  matters: 'The identifier is all that tells a late reply from the one that is waited for.',
  source: 'Modbus Messaging on TCP/IP V1.0b, 4.4.1.3: a response to no pending transaction is discarded',
  abilities: ['transaction'],
  faults: ({ log, target }) => {
    const newest = log.newest().findLast(({ question }) => question === target.key);
    return [{ transaction: ((newest ? transactionOf(newest) : 0) + AWAY) & 0xffff }];
  },
});
