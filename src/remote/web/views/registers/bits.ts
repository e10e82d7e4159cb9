import { html } from 'htm/preact';
import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';
import { Checkbox } from '../../ui/controls.js';

interface BitsProps {
  readonly about: RegisterView;
  /** Whether the value has boxes although its bits have no names. */
  readonly isPlain: boolean;
  /** Why the value can't be changed. */
  readonly why: string | undefined;
  /** Flips a bit. */
  readonly onBit: (bit: number) => Promise<unknown>;
}

/** A box for each bit of a value: for the named ones, or for all bits of a register. */
export function Bits({ about: { bits, raw }, isPlain, why, onBit }: BitsProps) {
  if (!bits && !isPlain) return null;
  const names = bits ?? Object.fromEntries(Array.from({ length: 16 }, (_, bit) => [bit, String(bit)]));
  const isSet = (bit: string) => ((BigInt(raw) >> BigInt(bit)) & 1n) === 1n;
  return html`<fieldset class="bits flow"><legend class="dim">bits</legend>
    ${Object.entries(names).map(
      ([
        bit,
        name,
      ]) => html`<label class="long" title=${why ?? `bit ${bit}`}><${Checkbox} isOn=${isSet(bit)} why=${why}
        onTurn=${() => onBit(Number(bit))}>${name}<//></label>`,
    )}
  </fieldset>`;
}
