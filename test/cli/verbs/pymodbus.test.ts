import { describe, expect, it } from 'vitest';
import { fixture } from '../../document/helpers.js';
import { freePort } from '../../remote/api/masters.js';
import { startProgram } from '../../support/program.mjs';
import { runHere, scratchSpace } from './run.js';

const { newFile } = scratchSpace();

const DEVICE = {
  setup: {
    'co size': 0,
    'di size': 0,
    'hr size': 10,
    'ir size': 0,
    'shared blocks': false,
    'type exception': false,
    defaults: {
      value: { bits: 0, uint16: 7, uint32: 0, float32: 0, string: '' },
      action: { bits: null, uint16: null, uint32: null, float32: null, string: null },
    },
  },
  invalid: [],
  write: [[0, 9]],
  bits: [],
  uint16: [[0, 9]],
  uint32: [],
  float32: [],
  string: [],
  repeat: [],
};

describe('the command line of pymodbus.simulator', () => {
  it('serves the server and the device that it names, and REST at its port', async () => {
    // A pymodbus file can't ask for any free port.
    const [port, httpPort] = [await freePort(), await freePort()];
    const setup = {
      server_list: { lab: { comm: 'tcp', host: '127.0.0.1', port, framer: 'socket' } },
      device_list: { pump: DEVICE, tank: DEVICE },
    };
    const program = await startProgram({
      args: [
        ...['--json_file', newFile(setup, 'setup.json')],
        ...['--modbus_server', 'lab', '--modbus_device', 'tank'],
        ...['--http_host', '127.0.0.1', '--http_port', `${httpPort}`],
        ...['--log', 'debug'],
      ],
    });
    expect(program.tcpPort('lab')).toBe(port);
    expect(program.restUrl()).toBe(`http://127.0.0.1:${httpPort}`);
    const response = await fetch(`${program.restUrl()}/restapi/registers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ submit: 'Register', range_start: 9, range_stop: 9 }),
    });
    expect(await response.json()).toMatchObject({
      result: 'ok',
      register_rows: [{ index: '9', value: '7' }],
    });
    expect(await program.stop()).toBe(0);
  });

  it('with a device that is not there is an error that says which there are', async () => {
    const args = ['--json_file', fixture('plant.json'), '--modbus_device', 'pomp'];
    const { code, stdout, stderr } = await runHere(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('device_list: unknown device "pomp"');
  });
});
