import { type Result, success } from '../../common/result.js';
import { readBrokerFiles } from '../../remote/mqtt/credentials.js';
import { Fleet, type FleetBench } from '../../remote/mqtt/fleet.js';
import type { FleetCommand } from '../command-line/commands/fleet.js';
import { conclude, onAll } from './fleet-answers.js';
import { list, watch, writeTargets } from './fleet-list.js';
import { push, readPushed } from './fleet-push.js';
import { applyRules, clearRules, readRules } from './fleet-rules.js';
import { examinationWork, readScenarios, runOnAll } from './fleet-runs.js';
import { complain, FAILED, WRONG_USAGE } from './say.js';

/** What a command does on the selected benches; resolves with the exit code. */
type Action = (fleet: Fleet, benches: readonly FleetBench[]) => Promise<number> | number;

/**
 * Asks or commands the benches on a broker; resolves with the exit code, which is 1 if one bench has refused
 * or is gone.
 */
export async function fleet(command: FleetCommand): Promise<number> {
  const { broker: url, username, ca, topic, action } = command;
  const carryOut = actionOf(command);
  if (!carryOut.ok) return complain(carryOut.error, action.do === 'test' ? WRONG_USAGE : FAILED);
  const credentials = ca === undefined ? {} : await readBrokerFiles({ ca });
  if (typeof credentials === 'string') return complain(credentials);
  const password = process.env.MODBUS_SIM_MQTT_PASSWORD;
  const found = await Fleet.find(
    { url, qos: 1, credentials, ...(username && { username }), ...(password && { password }) },
    topic,
  );
  if (typeof found === 'string') return complain(found);
  try {
    if (action.do === 'list' && action.watch) return await watch(found, command);
    const benches = found.select(command);
    return benches.length === 0
      ? complain('no bench is meant: none has said so on the topic, or --on and --label fit none')
      : await carryOut.value(found, benches);
  } finally {
    await found.end();
  }
}

/** Reads the files of a command. @returns the action, or what is wrong with a file */
function actionOf(command: FleetCommand): Result<Action> {
  const { action, timeout, json } = command;
  switch (action.do) {
    case 'list':
      return success((_, benches) => list(benches, json));
    case 'targets':
      return success((_, benches) => writeTargets(action.file, benches));
    case 'run':
      return success(async (fleet, benches) =>
        conclude(
          await onAll(benches, (bench) => fleet.ask(bench, action.command, action.input, timeout)),
          json,
        ),
      );
    case 'clear':
      return success(async (fleet, benches) =>
        conclude(await onAll(benches, (bench) => clearRules(fleet, bench, timeout, action.all)), json),
      );
    case 'apply': {
      const rules = readRules(action.file);
      if (!rules.ok) return rules;
      return success((fleet, benches) => applyRules(fleet, benches, command, rules.value));
    }
    case 'push': {
      const pushed = readPushed(action.file);
      if (!pushed.ok) return pushed;
      return success((fleet, benches) => push(fleet, benches, command, pushed.value));
    }
    case 'test': {
      const works = readScenarios(action.files, action.settings);
      if (!works.ok) return works;
      return success((fleet, benches) => runOnAll(fleet, benches, command, works.value, action.reports));
    }
    case 'examine':
      return success((fleet, benches) =>
        runOnAll(fleet, benches, command, [examinationWork(action.order)], action.reports),
      );
  }
}
