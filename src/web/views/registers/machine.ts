import { html } from 'htm/preact';
import type { ClockRequest, PowerRequest } from '../../../control/schemas/device.js';
import { ask, pathOf } from '../../api.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Folded } from '../../ui/folded.js';
import { duration } from '../../ui/format.js';
import { State } from '../../ui/state.js';
import { say } from '../../ui/toast.js';
import { readNow } from './reading.js';
import { machine } from './state.js';

const TONES = { on: 'good', booting: 'warn', off: 'bad' } as const;
const SPEEDS = [0.1, 1, 10, 60, 600, 3600];

/** The supply and the clock of the device, with their switches. */
export function Machine({ name }: { readonly name: string }) {
  const now = machine.value;
  const isOff = !mayWrite() || !now;
  const post = async (command: string, said: string, body?: PowerRequest | ClockRequest) => {
    const answer = await ask('POST', `${pathOf('devices', name)}/${command}`, body);
    if (!answer.ok) return say(answer.problem.detail, 'refused');
    say(`${name} ${said}.`);
    await readNow();
  };
  const power = (state: PowerRequest['state'], said: string) => () => void post('power', said, { state });
  const { time = 0, speed = 1, paused = false } = now?.clock ?? {};
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed];
  const summary = `Supply ${now?.supply ?? '–'}, clock ${paused ? 'paused' : `${speed}×`}`;
  return html`<div class="machine"><${Folded} summary=${summary}>
    <span class="group"><span class="dim">Supply</span> <${State} tone=${now ? TONES[now.supply] : 'off'}>${now?.supply ?? '–'}<//>
      <${Button} disabled=${isOff || now.supply === 'on'} label="Switch the supply on" onClick=${power('on', 'has its supply')}>On<//>
      <${Button} disabled=${isOff || now.supply === 'off'} label="Switch the supply off" onClick=${power('off', 'has no supply')}>Off<//>
      <${Button} disabled=${isOff || now.supply === 'off'} label="Interrupt 1 s: no supply for a second" onClick=${power(
        'cycle',
        'is without supply for a second',
      )}>Interrupt 1 s<//></span>
    <span class="group"><span class="dim">Clock</span> <span class="mono time">${paused ? 'paused at ' : ''}${duration(time)}</span>
      <${Button} disabled=${isOff} label=${paused ? 'Let the clock run' : 'Pause the clock'} onClick=${() =>
        void post('clock', paused ? 'has its clock running' : 'has its clock paused', {
          pause: !paused,
        })}>${paused ? 'Run' : 'Pause'}<//>
      <label><span class="dim">speed</span> <select disabled=${isOff} value=${String(speed)} onChange=${(
        event: Event,
      ) =>
        void post('clock', 'has another speed', {
          speed: Number((event.target as HTMLSelectElement).value),
        })}>
        ${speeds.map((each) => html`<option value=${String(each)} selected=${each === speed}>${each}×</option>`)}
      </select></label>
      <${Button} disabled=${isOff} label="+1 min: a step of the clock" onClick=${() =>
        void post('clock', 'is a minute on', { step: '1m' })}>+1 min<//></span>
    <${Button} kind="danger" disabled=${isOff} label="Reset the device: registers as configured" onClick=${() =>
      void post('reset', 'begins anew')}>Reset<//>
  <//></div>`;
}
