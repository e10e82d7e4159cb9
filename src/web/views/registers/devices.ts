import { computed, effect, signal } from '@preact/signals';
import type { DeviceView } from '../../../control/schemas/device.js';
import { ask } from '../../api.js';
import { comebacks, restarts, summary } from '../../live.js';
import { session } from '../../session.js';

/** The devices with their tables, lines and names; undefined before they were read. */
export const devices = signal<readonly DeviceView[] | undefined>(undefined);

/** Differs when devices have come or gone, or are at other lines or units. */
const lineUp = computed(() =>
  JSON.stringify([
    restarts.value,
    comebacks.value,
    session.value?.role,
    summary.value?.devices.edition,
    summary.value?.lines.map(({ name, edition }) => [name, edition]),
  ]),
);

/** Reads them whenever they may have changed, until the function that is returned is called. */
export function followDevices(): () => void {
  return effect(() => {
    if (lineUp.value !== '') void readDevices();
  });
}

async function readDevices(): Promise<void> {
  const answer = await ask<{ devices: DeviceView[] }>('GET', '/devices');
  if (answer.ok) devices.value = answer.value.devices;
}
