import { getSystemErrorName } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Libc,
  loadLibc,
  processorProblem,
  TCGETS2,
} from '../../../../src/modbus/transport/port/libc.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.doUnmock('koffi');
  vi.resetModules();
});

async function libc(): Promise<Libc> {
  const loaded = await loadLibc();
  if (!loaded.ok) throw new Error(loaded.error);
  return loaded.libc;
}

describe('the C library', () => {
  it('gives a failure as negative errno', async () => {
    const { ioctl, tcflush, posixOpenpt } = await libc();
    expect(getSystemErrorName(ioctl(-1, TCGETS2, Buffer.alloc(44)))).toBe('EBADF');
    expect(getSystemErrorName(tcflush(-1, 0))).toBe('EBADF');
    expect(posixOpenpt(-1)).toBeLessThan(0);
  });

  it('gives the error of ptsname_r, which does not use errno', async () => {
    const { ptsnameR } = await libc();
    expect(getSystemErrorName(ptsnameR(-1, Buffer.alloc(64)))).toBe('EBADF');
  });
});

describe('a processor', () => {
  const needed =
    'ARMv7 or later is needed for virtual lines, RS-485 settings and exact timers, and this is ARMv6';

  it.each([
    ['a Pi 1, Zero or Zero W', 'arm', 'armv6l', needed],
    ['a Pi 2 or later with a system of 32 bits', 'arm', 'armv7l', undefined],
    ['a Pi 3 or later with a kernel of 64 bits and programs of 32', 'arm', 'aarch64', undefined],
    ['the same in a container', 'arm', 'armv8l', undefined],
    ['a Pi 3 or later with a system of 64 bits', 'arm64', 'aarch64', undefined],
    ['a PC', 'x64', 'x86_64', undefined],
  ])('of %s', (_, arch, machine, problem) => {
    expect(processorProblem(arch, machine)).toBe(problem);
  });
});

describe('where the C library can not be called', () => {
  /** A fresh module, because the outcome of the first call is kept. */
  const reasonNow = async (): Promise<string> => {
    vi.resetModules();
    const fresh = await import('../../../../src/modbus/transport/port/libc.js');
    const loaded = await fresh.loadLibc();
    return loaded.ok ? 'loaded' : loaded.error;
  };

  it('says that koffi did not load, and why', async () => {
    vi.doMock('koffi', () => ({
      default: {
        load: () => {
          throw new Error('no binary for this machine\nand much more');
        },
      },
    }));
    expect(await reasonNow()).toBe('koffi did not load (no binary for this machine)');
  });

  it('says that it needs Linux', async () => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    expect(await reasonNow()).toBe('it needs Linux, and this is macOS');
  });

  it('does not guess the ioctl numbers of another machine', async () => {
    vi.spyOn(process, 'arch', 'get').mockReturnValue('mips');
    expect(await reasonNow()).toBe('the terminal ioctl numbers for mips are not known');
  });
});
