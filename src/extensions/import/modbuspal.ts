import type { Result } from '../../common/result.js';
import { Collector, type Imported, numberOf } from './collected.js';

/**
 * ModbusPal projects (.xmpp): slaves with holding registers and coils. Addresses are as on the wire
 * (ModbusRegisters.save). The file is not parsed as XML: ModbusPal does not escape names, so a `<` in a name
 * makes the file invalid XML. Entities and DTDs have no meaning here.
 */

const TAG = /<(\/?)([a-z_]+)((?:\s+[a-z_]+\s*=\s*"[^"]{0,4096}")*)\s*(\/?)>/gi;
const ATTRIBUTE = /([a-z_]+)\s*=\s*"([^"]*)"/gi;
/** A slave: `7`, or `127.0.0.1(7)` if it answers only to one IP address. */
const SLAVE_ID = /(?:^|\()(\d{1,3})\)?$/;

export function importModbuspal(text: string): Result<Imported> {
  const collector = new Collector();
  const lines = new LineCounter(text);
  let slave: { readonly unit: number; readonly name: string } | undefined;
  for (const match of text.matchAll(TAG)) {
    const [, closing, tag = '', written = ''] = match;
    if (closing) continue;
    const attributes = new Map(Array.from(written.matchAll(ATTRIBUTE), ([, key, value]) => [key, value]));
    const location = `line ${lines.at(match.index)}`;
    const note = (message: string) => collector.note(location, message);
    switch (tag.toLowerCase()) {
      case 'slave': {
        const unit = Number(SLAVE_ID.exec(attributes.get('id') ?? '')?.[1] ?? Number.NaN);
        slave = { unit, name: attributes.get('name') ?? '' };
        if (attributes.get('enabled') === 'false')
          note(`slave ${unit} is disabled in ModbusPal, but served here`);
        if (attributes.get('implementation') === 'j-bus')
          note(`ModbusPal shows the addresses of slave ${unit} from 0; they are the same on the wire`);
        break;
      }
      case 'register':
      case 'coil': {
        const isCoil = tag.toLowerCase() === 'coil';
        const address = numberOf(attributes.get('address'));
        if (!slave || address === undefined) {
          note(`${tag} without a slave or an address`);
          break;
        }
        collector.add('', slave.unit, slave.name, {
          table: isCoil ? 'coils' : 'holding',
          type: isCoil ? 'bit' : 'uint16',
          address,
          location,
          write: true,
          name: attributes.get('name'),
          value: numberOf(attributes.get('value')),
        });
        break;
      }
      case 'binding':
        note(
          `the automation ${attributes.get('automation') ?? ''} is not imported; a signal can do the same: see docs/signals.md`,
        );
        break;
      case 'function':
      case 'script':
        note(`${tag} is not imported`);
        break;
      case 'reply_delay':
      case 'error_rates':
        if ([...attributes.values()].some((each) => Number(each) > 0))
          note(`${tag} is not imported; a fault rule can do the same: see docs/faults.md`);
    }
  }
  return collector.end('a ModbusPal project');
}

/** Finds the line numbers of positions in a text. Each position must be after the previous one. */
class LineCounter {
  readonly #text: string;
  #place = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  at(place: number): number {
    for (; this.#place < place; this.#place++) if (this.#text[this.#place] === '\n') this.#line++;
    return this.#line;
  }
}
