import type { LineStatus } from '../../simulator/line-status.js';

/** The status text for the service manager, such as `3 lines open, 1 waiting for /dev/ttyUSB0`. */
export function statusText(lines: readonly Pick<LineStatus, 'state' | 'endpoint'>[]): string {
  const placesOf = (state: LineStatus['state']) =>
    lines.filter((line) => line.state === state).map(({ endpoint }) => endpoint);
  const [open, waiting, failed, stopped] = [
    placesOf('open'),
    placesOf('waiting'),
    placesOf('failed'),
    placesOf('stopped'),
  ];
  return [
    `${open.length} ${open.length === 1 ? 'line' : 'lines'} open`,
    ...(waiting.length > 0 ? [`${waiting.length} waiting for ${waiting.join(', ')}`] : []),
    ...(failed.length > 0 ? [`${failed.length} failed on ${failed.join(', ')}`] : []),
    ...(stopped.length > 0 ? [`${stopped.length} stopped`] : []),
  ].join(', ');
}
