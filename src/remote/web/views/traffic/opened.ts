import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { Ref } from 'preact';
import { useEffect } from 'preact/hooks';
import { sizeText } from '../../../../common/timeline/pieces.js';
import { lengthText, msText } from '../../../../common/timeline/times.js';
import { counted } from '../../../../common/words.js';
import { functionOf } from '../../../../modbus/protocol/function-table.js';
import type { LineView } from '../../../../simulator/commands/schemas/line.js';
import { MOMENT_KEY } from '../../past.js';
import { recorded } from '../../recorded.js';
import { hrefOf } from '../../route.js';
import { Button } from '../../ui/controls.js';
import { followPlayed, playedEntries } from '../catalogue/playing.js';
import { wireOf } from '../lines/details.js';
import type { Event } from './chunks.js';
import { dissect, type FramingName, guessedFraming, type ShownField } from './dissect.js';
import { numberOf, timeText } from './rows.js';

interface OpenedProps {
  readonly event: Event;
  /** The current line; undefined if it no longer exists. */
  readonly line: LineView | undefined;
  readonly self: Ref<HTMLElement>;
  /** Called with the number of an event to go to. */
  readonly onGo: (seq: number) => void;
  readonly onCentre: () => void;
}

/** An event with all details: its bytes with their fields, its steps, its faults. */
export function Opened({ event, line, self, onGo, onCentre }: OpenedProps) {
  const { kind, text, request, direction, earlier } = event;
  const seq = numberOf(event);
  const like = direction === 'in' && event.function !== undefined ? seq : request;
  return html`<section class="opened panel stack" aria-label=${`Event ${seq}`} tabindex="-1" ref=${self}>
    <h2>${kind} <span class="mono">#${seq}</span></h2>
    ${earlier ? html`<p class="dim">From the previous run of the simulator.</p>` : null}
    <p class="long">${text}</p>
    <div class="flow">
      <${Button} kind="link" onClick=${onCentre}>Show in the strip<//>
      ${
        request === undefined
          ? null
          : html`<${Button} kind="link" onClick=${() => onGo(request)}>Request #${earlier?.request ?? request}<//>`
      }
      <${ThenRegisters} event=${event} line=${line} />
      ${like === undefined || earlier || recorded ? null : html`<a href=${hrefOf('faults', [], { like: String(like) })}>New fault rule for this request</a>`}
    </div>
    ${recorded ? null : html`<${Played} event=${event} />`}
    <dl class="facts">${factsOf(event, wireOf(line).characterUs).map(
      ([term, value]) => html`<div><dt>${term}</dt><dd class="long mono">${value}</dd></div>`,
    )}</dl>
    ${event.bytes ? html`<${Bytes} event=${event} framing=${framingOf(event, line)} />` : null}
    ${event.steps && event.steps.length > 0 ? html`<${Steps} event=${event} />` : null}
  </section>`;
}

/** A link to the registers that the frame is about, at its time. */
function ThenRegisters({ event, line }: Pick<OpenedProps, 'event' | 'line'>) {
  const { unit, address, time, earlier } = event;
  const device = line?.units[unit ?? ''] ?? line?.units['*'];
  const table = functionOf(event.function)?.table;
  if (device === undefined || table === undefined || address === undefined || earlier) return null;
  const query = new URLSearchParams([
    ['from', String(address)],
    [MOMENT_KEY, time],
  ]);
  return html`<a href=${hrefOf('registers', [device, table], query)}>Registers then</a>`;
}

function factsOf(event: Event, characterUs: number | undefined): readonly (readonly [string, string])[] {
  const { faults = [], names = [], silence, pauseUs, responseTimeUs, ended, client } = event;
  const all: readonly (readonly [string, string | undefined | false])[] = [
    ['time', timeText(event.time)],
    ['line', event.line],
    ['client', client],
    ['pause before', pauseUs != null && lengthText(pauseUs, characterUs)],
    ['response time', responseTimeUs != null && lengthText(responseTimeUs, characterUs)],
    ['names', names.length > 0 && names.join(', ')],
    ['no reply', silence ?? undefined],
    ['ended', ended !== undefined && ended !== 'complete' && ended],
    ...faults.map(({ rule, kind, outcome, reason }) => {
      const how = outcome === 'applied' ? '' : `, not achieved: ${reason ?? ''}`;
      return ['fault', `${rule}: ${kind}${how}`] as const;
    }),
  ];
  return all.filter((row): row is readonly [string, string] => typeof row[1] === 'string');
}

/** The catalogue entries that acted on a frame, with links. Their rules are named after the entry and a target. */
function Played({ event: { faults = [], line } }: Pick<OpenedProps, 'event'>) {
  useEffect(followPlayed, []);
  const acted = faults.map(({ rule }) => rule.split('.')[0]);
  const played = playedEntries(line).filter(({ id }) => acted.includes(id));
  return played.map(
    ({ id, title }) =>
      html`<p class="warn long">As <a class="mono" href=${hrefOf('catalogue', [id])}>${id}</a>: ${title}.</p>`,
  );
}

function Steps({ event: { steps = [], omittedSteps = 0 } }: { readonly event: Event }) {
  return html`<table class="small">
    <caption>Steps of the reply, in ms after the request</caption>
    <thead><tr><th>step</th><th>planned</th><th>achieved</th><th>late</th><th>ended</th></tr></thead>
    <tbody class="mono">
      ${steps.map(({ kind, bytes = '', plannedUs, achievedUs, endedUs, reason }) => {
        const ms = (us: number | null) => (us === null ? '–' : (us / 1000).toFixed(3));
        const what = kind === 'bytes' ? sizeText(bytes) : kind;
        return html`<tr><td>${what}</td><td>${ms(plannedUs)}</td>
          ${
            achievedUs === null
              ? html`<td colspan="3" class="long">not sent${reason ? `: ${reason}` : ''}</td>`
              : html`<td>${ms(achievedUs)}</td><td title=${msText(achievedUs - plannedUs)}>${ms(achievedUs - plannedUs)}</td>
                <td>${ms(endedUs)}</td>`
          }</tr>`;
      })}
    </tbody>
    ${omittedSteps > 0 ? html`<tfoot><tr><td colspan="5">and ${omittedSteps} more</td></tr></tfoot>` : null}
  </table>`;
}

/** The framing of the line; guessed from the bytes if the line has changed since, or no longer exists. */
function framingOf({ bytes = '' }: Event, line: LineView | undefined): FramingName {
  const framing = line?.settings.framing;
  const isKnown = framing === 'rtu' || framing === 'ascii' || framing === 'socket';
  return isKnown ? framing : guessedFraming(bytesOf(bytes));
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex === '' ? [] : hex.split(' '), (pair) => Number.parseInt(pair, 16));
}

const RESPONSES: readonly Event['kind'][] = ['reply', 'foreign response', 'duplicate'];

/** The bytes of an event, with the fields of its frame. */
export function Bytes({ event, framing }: { readonly event: Event; readonly framing: FramingName }) {
  const { bytes = '', omittedBytes = 0, kind, address, quantity } = event;
  const pointed = useSignal<number | undefined>(undefined);
  const isResponse = RESPONSES.includes(kind);
  const fields = dissect(bytesOf(bytes), framing, { isResponse, address, quantity });
  const pairs = bytes.split(' ');
  const point = (i: number | undefined) => () => {
    pointed.value = i;
  };
  return html`<h3>${counted(pairs.length + omittedBytes, 'byte')}${omittedBytes > 0 ? `, ${pairs.length} shown` : ''}</h3>
    <p class="bytes-of mono" aria-hidden="true" onPointerLeave=${point(undefined)}>
      ${fields.map((field, i) =>
        pairs
          .slice(field.at, field.at + field.length)
          .map(
            (pair) =>
              html`<i class=${classOf(field, i, pointed.value)} onPointerEnter=${point(i)}>${pair}</i>`,
          ),
      )}
    </p>
    <table class="bytes-in small">
      <thead><tr><th>at</th><th>field</th><th>bytes</th><th>value</th></tr></thead>
      <tbody>
        ${fields.map(
          (field, i) => html`<tr class=${classOf(field, i, pointed.value)} onPointerEnter=${point(i)}
            onPointerLeave=${point(undefined)}>
            <td class="mono">${field.at}</td>
            <td>${field.name}</td>
            <td class="mono">${pairs.slice(field.at, field.at + field.length).join(' ')}</td>
            <td class="mono long">${field.value}${field.wrong === undefined ? null : html` <b>${field.wrong}</b>`}</td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}

/** The class of a field. Adjacent fields have different backgrounds, to make their edges visible. */
function classOf({ wrong }: ShownField, i: number, pointed: number | undefined): string {
  return `${i % 2 === 0 ? 'even' : 'odd'}${wrong === undefined ? '' : ' wrong'}${i === pointed ? ' pointed' : ''}`;
}
