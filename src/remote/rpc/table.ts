import * as catalogue from '../../simulator/commands/catalogue.js';
import * as cells from '../../simulator/commands/cells.js';
import * as configuration from '../../simulator/commands/configuration.js';
import * as devices from '../../simulator/commands/devices.js';
import * as faults from '../../simulator/commands/faults.js';
import * as inlets from '../../simulator/commands/inlets.js';
import { namesOfDevice } from '../../simulator/commands/known-values.js';
import * as lines from '../../simulator/commands/lines.js';
import * as program from '../../simulator/commands/program.js';
import * as values from '../../simulator/commands/values.js';
import * as testing from '../../testing/commands.js';

/**
 * Every command and every query of a running simulator; nothing else changes one. Each is a function of a
 * context and plain data. It checks its input against the running simulator, does all or nothing, and returns
 * plain data or a refusal with a stable code. Other threads call it by an `Rpc`.
 */
export const CALLS = {
  'program.ping': program.ping,
  'program.summary': program.summary,
  'program.map': program.map,
  'program.metrics': program.programMetrics,
  'program.ports': program.usedPorts,
  'configuration.check': configuration.checkConfiguration,
  'configuration.apply': configuration.applyConfiguration,
  'traffic.clear': program.clearTraffic,
  'line.get': lines.getLine,
  'line.add': lines.addLine,
  'line.change': lines.changeLine,
  'line.remove': lines.removeLine,
  'line.start': lines.startLine,
  'line.restart': lines.restartLine,
  'line.stop': lines.stopLine,
  'device.get': devices.getDevice,
  'device.add': devices.addDevice,
  'device.remove': devices.removeDevice,
  'device.power': devices.switchDevice,
  'device.clock': devices.setDeviceClock,
  'device.manners': devices.setManners,
  'device.reset': devices.restartDevice,
  'value.get': values.getValue,
  'value.set': values.setValue,
  'value.change': values.changeValues,
  'value.define': values.defineRegisters,
  'value.words': values.readWords,
  'signal.set': values.setSignal,
  'signal.remove': values.removeSignal,
  'inlet.take': inlets.takeValues,
  'cells.read': cells.readCells,
  'cells.set': cells.setCell,
  'rule.get': faults.getRule,
  'rule.add': faults.addRule,
  'rule.replace': faults.replaceRule,
  'rule.switch': faults.switchRule,
  'rule.remove': faults.removeRule,
  'rule.reset': faults.resetRules,
  'rule.preview': faults.previewRule,
  'misbehaviour.arm': catalogue.armMisbehaviour,
  'misbehaviour.disarm': catalogue.disarmMisbehaviour,
  'test.list': testing.tests.list,
  'test.get': testing.tests.get,
  'test.start': testing.tests.start,
  'test.stop': testing.tests.stop,
  'examination.list': testing.examinations.list,
  'examination.get': testing.examinations.get,
  'examination.start': testing.examinations.start,
  'examination.stop': testing.examinations.stop,
  'examination.checks': testing.possibleChecks,
} as const;

/** Queries whose answers may be long. Their parts are made only as fast as they are read. */
export const LISTS = {
  'program.configuration': program.configuration,
  'line.list': lines.listLines,
  'line.metrics': program.lineMetrics,
  'device.list': devices.listDevices,
  'device.names': namesOfDevice,
  'value.list': values.listValues,
  'value.named': values.namedValues,
  'inlet.list': inlets.listInlets,
  'rule.list': faults.listRules,
  'test.findings': testing.tests.findings,
  'examination.findings': testing.examinations.findings,
} as const;
