import type { Logger } from 'pino';
import type { Bus } from '../bus/bus.js';
import { hex } from '../protocol/bytes.js';
import type { LineEvent } from '../transport/transport.js';
import type { LineCounters } from './line-record.js';

/** Limit of the noise bytes in one log entry. */
const MAX_LOGGED = 64;

/**
 * Logs an event other than a request, and counts it for REST and for the devices' diagnostics. A message that
 * arrives damaged counts as one communication error (Application Protocol V1.1b3, 6.8, sub-function 12), even if
 * several events report its pieces.
 */
export function recordEvent(event: LineEvent, bus: Bus, counters: LineCounters, log: Logger): void {
  // A flooded line causes thousands of these events per second, so log texts are made only when they are logged.
  const debugs = log.isLevelEnabled('debug');
  switch (event.kind) {
    case 'open':
      for (const note of event.notes) log.warn({ place: event.place }, note);
      log.info({ place: event.place }, 'line open');
      break;
    case 'lost':
      log.warn({ reason: event.reason }, 'line lost, waiting for it to come back');
      break;
    case 'retry':
      log.debug({ error: event.error, inMs: event.inMs }, 'line not back yet');
      break;
    case 'failed':
      log.error({ text: event.text }, 'line failed');
      break;
    case 'foreign':
      bus.activity.messages++;
      counters.foreignFrames++;
      if (debugs) log.debug({ role: event.role, adu: hex(event.frame.bytes) }, 'frame between others');
      break;
    case 'duplicate':
      bus.activity.messages++;
      counters.duplicates++;
      log.warn(
        { unitId: bus.framing.fields(event.frame.bytes)?.unitId, adu: hex(event.frame.bytes) },
        'another device answers for this unit identifier',
      );
      break;
    case 'noise':
      if (!event.isRest) bus.activity.errors++;
      counters.noiseBytes += event.noise.bytes.length;
      if (debugs) {
        const { bytes } = event.noise;
        log.debug({ bytes: hex(bytes.subarray(0, MAX_LOGGED)), length: bytes.length }, 'noise');
      }
      break;
    case 'damaged':
      if (!event.isRest) bus.activity.errors++;
      counters.damagedCharacters += event.count;
      log.debug({ count: event.count }, 'damaged characters');
      break;
    case 'echo':
      counters.echoes++;
      if (counters.echoes === 1) log.info('the adapter hears what it sends: its echo is taken out');
      break;
    case 'loop':
      log.warn(
        'the same replies came back again and again, so the next ones are not executed; say "echo: yes" if the adapter of this line hears what it sends, "echo: no" if a client repeats its writes so fast',
      );
      break;
    case 'collision':
      counters.collisions++;
      log.warn('collision: somebody else spoke while a reply was on the wire');
      break;
    case 'overrun':
      bus.activity.overruns += event.count;
      log.warn({ count: event.count }, 'the UART has lost characters');
      break;
    case 'dropped':
      counters.dropped++;
      if (debugs) log.debug({ adu: hex(event.adu) }, 'request dropped, a reply is pending');
      break;
    case 'client':
      log.debug(event, 'client');
      if (event.role !== undefined)
        log.info({ client: event.client, role: event.role }, 'client with a role');
      break;
    case 'client-gone':
      bus.forget(event.clientId);
      log.debug(event, 'client gone');
      break;
    case 'rejected':
      counters.rejected++;
      log.debug(event, 'client turned away');
  }
}
