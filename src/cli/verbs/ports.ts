import { listPorts } from '../../modbus/transport/port/list-ports.js';
import type { PortsCommand } from '../command-line/commands/plain.js';
import { OK, say, sayJson } from './say.js';

/** Prints the serial ports by their stable names. */
export async function ports({ asJson }: PortsCommand): Promise<number> {
  const found = await listPorts();
  if (asJson) return sayJson(found);
  if (found.length === 0) return say('no serial ports found');
  for (const { path, stableNames, adapter, usb, hints } of found) {
    const parts = usb && [
      `${usb.vendorId}:${usb.productId}`,
      usb.manufacturer,
      usb.product,
      usb.serialNumber,
    ];
    say([path, adapter.name, parts?.filter(Boolean).join(' ')].filter(Boolean).join('  '));
    for (const line of [...stableNames, ...hints]) say(`  ${line}`);
  }
  return OK;
}
