/** What the clients of bench/rest.mjs ask for: 100 rows. */
export const PATH = '/restapi/registers';
export const BODY = JSON.stringify({ submit: 'Registers', device: 'bench', range_start: 0, range_stop: 99 });
