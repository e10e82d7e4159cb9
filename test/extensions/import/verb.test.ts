import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere, scratchSpace } from '../../cli/verbs/run.js';

const { newDirectory, newFile } = scratchSpace();

const MAP = 'address,name,type\n0,a,uint16\n1,b,BCD\n';

describe('modbus-sim import', () => {
  it('writes a file that check takes, and says what it did not understand', async () => {
    const directory = newDirectory();
    const [source, target] = [newFile(MAP, 'meter.csv'), join(directory, 'device.yaml')];
    const { code, stdout, stderr } = await runHere(['import', source, '-o', target]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `wrote ${target}: 2 values of 1 device; serve it with modbus-sim --config ${target}\n`,
    );
    expect(stderr).toContain(`${source}: line 3: unknown type "BCD", so a plain register is served`);
    expect(await runHere(['check', target])).toMatchObject({ code: 0 });
  });

  it('prints the file without -o', async () => {
    const { code, stdout } = await runHere(['import', newFile(MAP, 'meter.csv')]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# yaml-language-server: \$schema=file:\/\/\/.+\/schema\/configuration\.json\n/);
    expect(stdout).toContain('\ndevices:\n  meter:\n    registers:\n');
  });

  it('overwrites a file with --force only', async () => {
    const directory = newDirectory();
    const [source, target] = [newFile(MAP, 'meter.csv'), join(directory, 'device.yaml')];
    writeFileSync(target, 'precious');
    const refused = await runHere(['import', source, '--output', target]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`${target}: exists; --force overwrites it`);
    expect(readFileSync(target, 'utf8')).toBe('precious');
    expect(await runHere(['import', source, '-o', target, '--force'])).toMatchObject({ code: 0 });
    expect(readFileSync(target, 'utf8')).toContain('devices:');
  });

  it.each([
    [
      'what is no table',
      'hello\n',
      'x.md',
      "the kind of file can't be recognised from its content; --from may be telegraf, esphome, evcc, wiren-board, node-red, openhab, modbus-exporter, solarman, modbuspal, sunspec, home-assistant, csv",
    ],
    [
      'a file that is too large',
      'a'.repeat(4 * 1024 * 1024 + 1),
      'x.csv',
      'is too large: more than 4194304 bytes',
      2,
    ],
    ['a table without registers', 'address,name\nx,y\n', 'x.csv', 'no registers found'],
  ])('refuses %s, and writes nothing', async (_, content, name, sentence, exit = 1) => {
    const directory = newDirectory();
    const target = join(directory, 'device.yaml');
    const { code, stderr } = await runHere(['import', newFile(content, name), '-o', target]);
    expect(code).toBe(exit);
    expect(stderr).toContain(sentence);
    expect(existsSync(target)).toBe(false);
  });

  it('refuses a kind that it does not know, and a directory', async () => {
    const directory = newDirectory();
    expect((await runHere(['import', newFile(MAP), '--from', 'xml'])).stderr).toContain(
      'unknown kind of file "xml" (known: telegraf, esphome, evcc, wiren-board, node-red, openhab, modbus-exporter, solarman, modbuspal, sunspec, home-assistant, csv)',
    );
    expect((await runHere(['import', directory])).stderr).toContain('is a directory, expected a file');
  });

  it('reads what Excel saves: Windows-1252 and UTF-16, and says what to do with a workbook', async () => {
    const table = 'Adresse;Bezeichnung;Typ;Einheit\r\n7;Größe;uint16;°C\r\n';
    const tables = [
      Buffer.from(table, 'latin1'),
      Buffer.from(`\uFEFF${table}`, 'utf16le'),
      Buffer.from(table, 'utf16le'),
      Buffer.from(`\uFEFF${table}`, 'utf16le').swap16(),
    ];
    for (const bytes of tables) {
      const source = join(newDirectory(), 'map.csv');
      writeFileSync(source, bytes);
      const { code, stdout } = await runHere(['import', source]);
      expect(code).toBe(0);
      expect(stdout).toContain('unit: "°C"');
      expect(stdout).toContain('description: "Größe"');
    }
    const book = join(newDirectory(), 'map.xlsx');
    writeFileSync(book, Buffer.from('504b030414000600', 'hex'));
    expect((await runHere(['import', book])).stderr).toContain(
      'is a workbook (.xlsx) or another archive; save the sheet with the registers as CSV',
    );
  });

  it('takes packages and substitutions of ESPHome, and a place for what is written', async () => {
    const node = newFile(
      'modbus_controller: {id: pump, address: $unit}\nsubstitutions: {unit: 3, first: 10}\n',
      'node.yaml',
    );
    const entity = 'platform: modbus_controller, modbus_controller_id: pump, register_type: holding';
    const pack = newFile(`sensor: [{${entity}, name: "\${room} heat", address: "\${first}"}]\n`, 'pack.yaml');
    const { code, stdout } = await runHere(['import', node, pack, '--set', 'room=Hall', '--port', '15020']);
    expect(code).toBe(0);
    expect(stdout).toContain('address: 10');
    expect(stdout).toContain('name: Hall_heat');
    expect(stdout).toMatch(/port: 15020\}\n\s+units: \{3: pump/);
    const onBus = await runHere(['import', newFile(MAP, 'm.csv'), '--serial', '/dev/ttyUSB0', '--unit', '9']);
    expect(onBus.stdout).toMatch(/serial: \{path: \/dev\/ttyUSB0\}\n\s+units: \{9: m/);
    const missing = await runHere(['import', pack, '--set', 'first=1']);
    expect(missing.stderr).toContain('"room" has no value; give one with --set room=VALUE');
    const wrong = await runHere(['import', newFile(MAP, 'm.csv'), pack]);
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('only ESPHome takes further files and --set'),
    });
  });
});
