import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type Libc, TIOCGRS485, TIOCMGET, TIOCSRS485 } from '../../../../src/modbus/transport/port/libc.js';
import { openDirection, rtsWhileListening } from '../../../../src/modbus/transport/port/rs485-direction.js';
import type { Rs485Settings } from '../../../../src/modbus/transport/settings.js';
import { rs485 } from './rs485-settings.js';

const { ENOTTY, EINVAL } = constants.errno;

/** A driver as far as direction goes. No driver with an RS-485 mode can be had without hardware. */
function newDriver({
  flags = 0,
  has = true,
  adjust = (struct: Uint8Array) => struct,
  modemLines = true,
  refusal = 0,
} = {}) {
  let mode: Uint8Array = new Uint8Array(32);
  mode[0] = flags;
  const ioctl = (_: number, request: number, argument: Uint8Array | null): number => {
    if (request === TIOCMGET) return modemLines ? 0 : -ENOTTY;
    if (!has || argument === null) return -ENOTTY;
    if (request === TIOCGRS485) argument.set(mode);
    else if (request === TIOCSRS485) {
      if (refusal !== 0) return -refusal;
      mode = adjust(Uint8Array.from(argument));
    } else return -ENOTTY;
    return 0;
  };
  const libc: Libc = {
    ioctl,
    posixOpenpt: () => -1,
    grantpt: () => -1,
    unlockpt: () => -1,
    ptsnameR: () => -1,
    tcflush: () => -1,
    tcflow: () => -1,
    inotifyInit: () => -1,
    inotifyAddWatch: () => -1,
    inotifyRmWatch: () => -1,
    pollNow: () => 0,
    timerfdCreate: () => -1,
    connectDatagrams: () => -1,
    timerfdSettime: () => -1,
    lockNow: () => -1,
    schedGetattr: () => -1,
    schedSetattr: () => -1,
  };
  const open = (settings?: Rs485Settings) => openDirection(3, settings, { ok: true, libc });
  const errorOf = (settings: Rs485Settings): string => {
    const opened = open(settings);
    return opened.ok ? opened.direction.text : opened.error;
  };
  const directionOf = (settings?: Rs485Settings) => {
    const opened = open(settings);
    if (!opened.ok) throw new Error(opened.error);
    return opened.direction;
  };
  return { errorOf, directionOf, flags: () => mode[0] };
}

describe('RS-485 direction by the kernel', () => {
  it('is switched on, read back and told, and is put back at the end', () => {
    const driver = newDriver();
    const direction = driver.directionOf(rs485('kernel', { delayAfterSend: 2 }));
    expect(driver.flags()).toBe(0b11);
    expect(direction.text).toBe(
      'the kernel switches: RTS high while sending, 0 ms before and 2 ms after, receiver off meanwhile (read back)',
    );
    expect(direction.mustDrain).toBe(true);
    direction.restore?.();
    expect(driver.flags()).toBe(0);
  });

  it('is put back as it was when it had been on already', () => {
    const driver = newDriver({ flags: 0b10101 });
    const direction = driver.directionOf(rs485('kernel'));
    expect(driver.flags()).toBe(0b11);
    direction.restore?.();
    expect(driver.flags()).toBe(0b10101);
  });

  it('sends no break, and says so', () => {
    expect(newDriver().directionOf(rs485('kernel')).noBreak).toContain('a break never reaches the bus');
  });

  it('is refused where the driver has no such mode', () => {
    expect(newDriver({ has: false }).errorOf(rs485('kernel'))).toBe(
      'this driver has no RS-485 mode; use an adapter that switches direction on its own (rs485: {mode: auto}), or rs485: {mode: rts}',
    );
  });

  it('is refused where a newer kernel answers only that the mode is off', () => {
    expect(newDriver({ refusal: ENOTTY }).errorOf(rs485('kernel'))).toMatch(
      /^this driver has no RS-485 mode/,
    );
  });

  it('is refused with the reason where the driver does not want it', () => {
    expect(newDriver({ refusal: EINVAL }).errorOf(rs485('kernel'))).toMatch(/refuses .* \(EINVAL\)/);
  });

  it('is refused, and put back, where the driver makes something else of it', () => {
    const driver = newDriver({
      adjust: (struct) => {
        struct.fill(0, 4, 12);
        return struct;
      },
    });
    expect(driver.errorOf(rs485('kernel', { delayBeforeSend: 5 }))).toMatch(
      /did not accept the RS-485 mode: wanted RTS high while sending, 5 ms before .* found RTS high while sending, 0 ms before/,
    );
    expect(driver.flags()).toBe(0);
  });
});

describe('RS-485 direction by RTS', () => {
  it('is told as the last resort it is', () => {
    const direction = newDriver({ has: false }).directionOf(rs485('rts', { rtsOnSend: 'low' }));
    expect(direction.text).toMatch(/^this program switches: RTS low while sending, .* last resort/);
    expect(direction.rts).toMatchObject({ rtsOnSend: 'low' });
  });

  it('is refused on a port without modem lines', () => {
    expect(newDriver({ has: false, modemLines: false }).errorOf(rs485('rts'))).toMatch(
      /no modem lines \(TIOCMGET: ENOTTY\)/,
    );
  });

  it('is refused where the kernel switches RTS already', () => {
    expect(newDriver({ flags: 0b11 }).errorOf(rs485('rts'))).toMatch(/the kernel already switches/);
  });

  it('has RTS the other way round while listening', () => {
    expect(rtsWhileListening(rs485('rts'), 'usb')).toBe('low');
    expect(rtsWhileListening(rs485('rts', { rtsOnSend: 'low' }), 'usb')).toBe('high');
    expect(rtsWhileListening(rs485('rts'), 'pl011'), 'the signal, whatever the pin').toBe('low');
  });
});

describe('RTS on a port that listens, around the RS-485 mode of the kernel', () => {
  it.each([
    ['16550', 'high', 'low'],
    ['16550', 'low', 'high'],
    ['pl011', 'high', 'high'],
    ['pl011', 'low', 'low'],
    ['mini-uart', 'high', 'high'],
    ['mini-uart', 'low', 'low'],
  ] as const)('of a %s that sends with RTS %s is %s', (adapter, rtsOnSend, expected) => {
    expect(rtsWhileListening(rs485('kernel', { rtsOnSend }), adapter)).toBe(expected);
  });

  it('is as every program has it where the adapter switches by itself', () => {
    expect(rtsWhileListening(undefined, '16550')).toBe('high');
    expect(rtsWhileListening(undefined, 'pl011')).toBe('high');
  });
});

describe('RS-485 direction by the adapter', () => {
  it('is the default, and changes nothing', () => {
    const driver = newDriver();
    const direction = driver.directionOf();
    expect(direction).toMatchObject({ mustDrain: false, noBreak: undefined });
    expect(direction.text).toMatch(/^the adapter itself/);
    direction.restore?.();
    expect(driver.flags()).toBe(0);
  });

  it('tells when it is the kernel that switches, as the device tree may say', () => {
    const driver = newDriver({ flags: 0b11 });
    const direction = driver.directionOf(undefined);
    expect(direction.text).toMatch(
      /^the kernel switches: RTS high while sending.* before this program started$/,
    );
    direction.restore?.();
    expect(driver.flags()).toBe(0b11);
  });
});

describe('without koffi', () => {
  const loaded = { ok: false, error: 'koffi did not load (no binary)' } as const;

  it.each(['kernel', 'rts'] as const)('direction by %s is refused with that reason', (mode) => {
    expect(openDirection(3, rs485(mode), loaded)).toEqual({
      ok: false,
      error: `rs485: {mode: ${mode}} is not possible: koffi did not load (no binary); use an adapter that switches direction on its own (rs485: {mode: auto})`,
    });
  });

  it('an adapter that switches by itself works', () => {
    expect(openDirection(3, undefined, loaded).ok).toBe(true);
  });
});
