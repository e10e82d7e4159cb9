import { describe, expect, it } from 'vitest';
import { characterTime } from '../../../../src/modbus/protocol/timing.js';
import { startRtsSwitch } from '../../../../src/modbus/transport/port/rs485-direction.js';
import type { TransmitterState } from '../../../../src/modbus/transport/port/uart.js';
import type { PortSettings, RtsSwitching } from '../../../../src/modbus/transport/settings.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import { switching } from './rs485-settings.js';

type Format = Pick<PortSettings, 'baudRate' | 'dataBits' | 'parity' | 'stopBits'>;

/** A character of 11 bits takes 1 ms. */
const EVEN: Format = { baudRate: 11_000, dataBits: 8, parity: 'even', stopBits: 1 };

/** A port with RTS, on a clock that stands still until told to go on. Its adapter holds bytes for 2 ms. */
function newPort(
  of: Partial<RtsSwitching> = {},
  transmitter: (now: number) => TransmitterState = () => 'empty',
  format = EVEN,
) {
  const clock = new VirtualClock();
  const log: string[] = [];
  const note = (what: string): void => void log.push(`${Number(clock.now().toFixed(2))} ${what}`);
  const rts = startRtsSwitch({
    switching: switching(of),
    characterTime: characterTime(format),
    outputHold: 2,
    setRts: (level) => note(`RTS ${level}`),
    write: (bytes) => note(`write ${[...bytes].join(' ')}`),
    transmitter: () => transmitter(clock.now()),
    clock,
  });
  const goTo = (end: number): void => clock.advance(end - clock.now());
  return { rts, log, goTo };
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('switching by RTS', () => {
  it('holds the bus for exactly the characters, where the driver knows when it is done', () => {
    const { rts, log, goTo } = newPort();
    goTo(10);
    rts.write(bytes(1, 2, 3));
    goTo(100);
    expect(log).toEqual(['10 RTS high', '10 write 1 2 3', '13 RTS low']);
  });

  it.each<[string, Partial<Format>, number]>([
    ['8N1', { parity: 'none' }, 1000],
    ['7E1', { dataBits: 7 }, 1000],
    ['8E1', {}, 1100],
    ['8N2', { parity: 'none', stopBits: 2 }, 1100],
    ['8E2', { stopBits: 2 }, 1200],
  ])('counts all bits of a character, and no more: %s', (_, format, bits) => {
    const { rts, log, goTo } = newPort({}, undefined, { ...EVEN, baudRate: 1000, ...format });
    rts.write(new Uint8Array(100));
    goTo(5000);
    expect(log.at(-1)).toBe(`${bits} RTS low`);
  });

  it('keeps the delays before and after', () => {
    const { rts, log, goTo } = newPort({ delayBeforeSend: 5, delayAfterSend: 3 });
    rts.write(bytes(1, 2));
    goTo(100);
    expect(log).toEqual(['0 RTS high', '5 write 1 2', '10 RTS low']);
  });

  it('has RTS the other way round when asked', () => {
    const { rts, log, goTo } = newPort({ rtsOnSend: 'low' });
    rts.write(bytes(1));
    goTo(100);
    expect(log).toEqual(['0 RTS low', '0 write 1', '1 RTS high']);
  });

  it('waits until the transmitter is empty, however long that takes', () => {
    const { rts, log, goTo } = newPort({ delayAfterSend: 1 }, (now) => (now < 3.9 ? 'sending' : 'empty'));
    rts.write(bytes(1, 2));
    goTo(100);
    expect(log.at(-1)).toBe('5 RTS low');
  });

  it('does not let go of the bus while a driver is stuck', () => {
    const { rts, log, goTo } = newPort({}, (now) => (now < 1000 ? 'sending' : 'empty'));
    rts.write(bytes(1));
    goTo(999);
    expect(log).toEqual(['0 RTS high', '0 write 1']);
    goTo(1010);
    expect(log).toHaveLength(3);
  });

  it('waits for the adapter where the driver can not tell', () => {
    const { rts, log, goTo } = newPort({}, () => 'handed over');
    rts.write(bytes(1, 2, 3));
    goTo(100);
    expect(log.at(-1)).toBe('5 RTS low');
  });

  it('goes on sending when more is written before the end', () => {
    const { rts, log, goTo } = newPort({ delayBeforeSend: 5 });
    rts.write(bytes(1, 2));
    goTo(6);
    rts.write(bytes(3));
    goTo(100);
    expect(log).toEqual(['0 RTS high', '5 write 1 2', '6 write 3', '8 RTS low']);
  });

  it('goes on sending when more is written during the delay after', () => {
    const { rts, log, goTo } = newPort({ delayAfterSend: 5 });
    rts.write(bytes(1));
    goTo(4);
    rts.write(bytes(2));
    goTo(100);
    expect(log).toEqual(['0 RTS high', '0 write 1', '4 write 2', '10 RTS low']);
  });

  it('sends in one piece what is written during the delay before', () => {
    const { rts, log, goTo } = newPort({ delayBeforeSend: 5 });
    rts.write(bytes(1));
    goTo(2);
    rts.write(bytes(2));
    goTo(100);
    expect(log).toEqual(['0 RTS high', '5 write 1 2', '7 RTS low']);
  });

  it('takes the bus again for the next reply', () => {
    const { rts, log, goTo } = newPort();
    rts.write(bytes(1));
    goTo(50);
    rts.write(bytes(2));
    goTo(100);
    expect(log.slice(3)).toEqual(['50 RTS high', '50 write 2', '51 RTS low']);
  });

  it('holds the bus for a break, and what is written meanwhile comes behind it', async () => {
    const { rts, log, goTo } = newPort({ delayBeforeSend: 1 });
    const held = rts.hold();
    goTo(1);
    await held;
    goTo(20);
    rts.write(bytes(1));
    goTo(30);
    expect(log).toEqual(['0 RTS high']);
    rts.release();
    goTo(100);
    expect(log).toEqual(['0 RTS high', '30 write 1', '31 RTS low']);
  });

  it('lets go of the bus at once when it is stopped', () => {
    const { rts, log, goTo } = newPort({ delayBeforeSend: 5 });
    rts.write(bytes(1));
    goTo(2);
    rts.stop();
    goTo(100);
    expect(log).toEqual(['0 RTS high', '2 RTS low']);
  });
});
