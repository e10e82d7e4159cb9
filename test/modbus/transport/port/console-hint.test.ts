import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { consoleHint } from '../../../../src/modbus/transport/port/list-ports.js';
import { useMachine } from './machine.js';

const { root, file, link } = useMachine();

describe('a kernel console on a serial port', () => {
  it('is told with the parameter to take away', () => {
    file('dev/ttyAMA0', '');
    file('proc/cmdline', 'root=/dev/sda1 console=tty1 console=ttyAMA0,115200n8 quiet\n');
    expect(consoleHint('/dev/ttyAMA0', root())).toBe(
      'the kernel console is on this port; remove console=ttyAMA0 from the kernel command line, and make sure that no login prompt runs there',
    );
  });

  it('is found under the name that a Raspberry Pi gives it', () => {
    file('dev/ttyS0', '');
    link('dev/serial0', 'dev/ttyS0');
    file('proc/cmdline', 'console=serial0,115200 console=tty1\n');
    expect(consoleHint('/dev/ttyS0', root())).toContain('remove console=serial0 from');
    expect(consoleHint('/dev/serial0', root())).toContain('remove console=serial0 from');
  });

  it('is found when the firmware chose it', () => {
    file('dev/ttyS0', '');
    file('sys/class/tty/console/active', 'tty0 ttyS0\n');
    expect(consoleHint('/dev/ttyS0', root())).toContain('remove console=ttyS0 from');
  });

  it('is not seen where there is none', () => {
    file('dev/ttyS1', '');
    file('proc/cmdline', 'console=ttyS10,9600 noconsole=ttyS1\n');
    file('sys/class/tty/console/active', 'ttyS10\n');
    expect(consoleHint('/dev/ttyS1', root())).toBeUndefined();
    expect(consoleHint('/dev/ttyS1', join(root(), 'nowhere'))).toBeUndefined();
  });
});
