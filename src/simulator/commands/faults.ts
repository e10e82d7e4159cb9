import type { Result } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { plural } from '../../common/words.js';
import { aimsAt, numbersOf } from '../../device/faults/condition.js';
import { type FaultRule, ruleSchema, usableRule } from '../../device/faults/rule.js';
import { MAX_RULES, type RuleStatus } from '../../device/faults/rules.js';
import { THEN } from '../../device/faults/then.js';
import { hex } from '../../modbus/protocol/bytes.js';
import { BROADCAST } from '../../modbus/protocol/rtu.js';
import {
  type FaultPreview,
  likeEvent,
  likeMadeUp,
  likeRule,
  type PreviewRequest,
  previewFault,
} from '../fault-preview.js';
import type { Line } from '../line.js';
import { costOf } from '../memory-budget.js';
import type { Simulator } from '../simulator.js';
import { replyView } from '../traffic/reply-view.js';
import { micros } from '../traffic/words.js';
import { undoable } from '../undo.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { momentIn } from './past.js';
import { done, type Outcome, type Refusal, refusal, refusalOf, refusalOfIssues } from './refusal.js';
import type { PastRules, RULE_COMMANDS, RuleView } from './schemas/fault.js';
import { type FaultPreviewView, previewBody } from './schemas/fault-preview.js';

/** Warnings about devices named by a rule that are not on any line of the rule. */
export function unservedDevices({ when }: FaultRule, lines: Iterable<Line>): string[] {
  const served = [...lines]
    .filter(({ name }) => aimsAt(when, name))
    .flatMap(({ bus }) => [...bus.stations.devices]);
  const names = new Set(served.map(({ name }) => name));
  const unserved = [when.device ?? []].flat().filter((name) => !names.has(name));
  return unserved.length === 0
    ? []
    : [`when.device: no line of the rule currently serves ${unserved.join(', ')}`];
}

/**
 * Warnings about unit identifiers named by a rule that are not on any line of the rule. The rule never acts
 * for these units.
 */
export function unservedUnits({ when }: FaultRule, lines: Iterable<Line>): string[] {
  const aimedAt = [...lines].filter(({ name }) => aimsAt(when, name));
  const unserved = [when.unit ?? []]
    .flat()
    .filter(
      (unit) =>
        !numbersOf(unit).some(
          (each) => each === BROADCAST || aimedAt.some(({ bus }) => bus.stations.owns(each)),
        ),
    );
  if (unserved.length === 0) return [];
  const which = when.line === undefined ? 'no line' : 'no line of the rule';
  return [`when.unit: ${which} currently serves ${plural(unserved.length, 'unit')} ${unserved.join(', ')}`];
}

type OfRule = DeclaredInput<(typeof RULE_COMMANDS)['rule.get']>;

/** A rule in the form of a native file. */
type OfWrittenRule = DeclaredInput<(typeof RULE_COMMANDS)['rule.add']>;
type WrittenRule = OfWrittenRule['rule'];

function* listRules({ simulator }: CommandContext): Generator<RuleView> {
  for (const status of simulator.faults.rules.list()) yield ruleView(status, simulator.lines.values());
}

function pastRules(
  { simulator }: CommandContext,
  { at = Date.now() }: DeclaredInput<(typeof RULE_COMMANDS)['rule.past']>,
): Outcome<PastRules> {
  const { rules } = simulator.faults;
  const { real, shown, time } = momentIn(simulator, at);
  const since = time(rules.pastFrom);
  if (real < rules.pastFrom)
    return refusal('history.not_kept', 'at', `the fault rules are known only from ${since} on`);
  return done({
    at: shown,
    since,
    faults: rules.listAt(real).map(({ rule, seed }) => writtenRule(rule, seed)),
  });
}

function getRule({ simulator }: CommandContext, { name }: OfRule): Outcome<RuleView> {
  const status = simulator.faults.rules.get(name);
  return status ? done(ruleView(status, simulator.lines.values())) : unknownRule(name);
}

/** Adds a rule, which acts after the existing ones. */
function addRule(context: CommandContext, { rule: written }: OfWrittenRule): Outcome<RuleView> {
  const checked = checkedRule(context.simulator, written);
  if (!checked.ok) return checked;
  const { name } = checked.value;
  if (!context.simulator.faults.rules.has(name)) return accept(context, checked.value, written);
  return refusal('rule.name_taken', 'name', `a rule named ${name} already exists; PUT replaces it`);
}

/** Adds a rule, or replaces the one with its name and restarts its counts at zero. */
function replaceRule(context: CommandContext, { rule }: OfWrittenRule): Outcome<RuleView> {
  const checked = checkedRule(context.simulator, rule);
  return checked.ok ? accept(context, checked.value, rule) : checked;
}

/** Switches a rule on or off. Switching it on resets its counts. */
function switchRule(
  { simulator }: CommandContext,
  { name, enabled }: DeclaredInput<(typeof RULE_COMMANDS)['rule.switch']>,
): Outcome<RuleView> {
  const { rules } = simulator.faults;
  rules.switch(name, enabled);
  const status = rules.get(name);
  return status ? done(ruleView(status, simulator.lines.values())) : unknownRule(name);
}

function removeRule({ simulator }: CommandContext, { name }: OfRule): Outcome<null> {
  return simulator.faults.rules.remove(name) ? done(null) : unknownRule(name);
}

/** Restores the configured rules and removes all others. */
function resetRules({ simulator }: CommandContext): Outcome<null> {
  simulator.faults.reset(simulator.findValue);
  return done(null);
}

/**
 * Shows how a rule would change the reply to a request: one in the traffic by its sequence number, a made-up
 * one, or the newest one that the rule applies to.
 */
function previewRule(
  { simulator }: CommandContext,
  request: DeclaredInput<(typeof RULE_COMMANDS)['rule.preview']>,
): Outcome<FaultPreviewView> {
  const findings = new Findings();
  const { rule, like: wanted } = new At(request, findings).check(previewBody) ?? {};
  if (!rule) return refusalOf(findings, 'rule.invalid');
  const usable = usableRule(rule, simulator.ruleHome);
  let like: Result<PreviewRequest> | undefined;
  if (typeof wanted === 'number') like = likeEvent(simulator, wanted);
  else if (wanted) like = likeMadeUp(simulator, wanted);
  else if (usable.ok) like = likeRule(simulator, usable.value);
  if (like && !like.ok) {
    const { error: message } = like;
    findings.add(() => ({ path: ['like'], message, code: 'event.unusable' }));
  }
  if (!usable.ok)
    for (const issue of usable.error) findings.add(() => ({ ...issue, path: ['rule', ...issue.path] }));
  if (!usable.ok || !like?.ok) return refusalOf(findings, 'rule.invalid');
  return done(previewView(previewFault(usable.value, like.value), like.value));
}

/**
 * Checks a rule from any source.
 * @returns the rule, ready to put in force, or why it can't be used
 */
export function checkedRule(
  { faults, ruleHome, changes: { budget } }: Simulator,
  written: WrittenRule,
): Outcome<FaultRule> {
  const findings = new Findings();
  const rule = new At(written, findings).check(ruleSchema);
  if (!rule) return refusalOf(findings, 'rule.invalid');
  const usable = usableRule(rule, ruleHome);
  if (!usable.ok) return refusalOfIssues(usable.error, 'rule.invalid');
  if (!faults.rules.hasRoomFor(rule.name)) return refusal('rule.too_many', '', TOO_MANY_RULES);
  const spent = budget.whyNot(costOf(written).bytes, budget.ofRule(rule.name));
  return spent === undefined ? done(usable.value) : refusal('memory.spent', '', spent);
}

const TOO_MANY_RULES = `expected at most ${MAX_RULES} fault rules in force; remove one first`;

/** Puts a checked rule in force. */
export function accept(
  { simulator, log }: CommandContext,
  rule: FaultRule,
  written: WrittenRule,
): Outcome<RuleView> {
  const view = ruleView(simulator.faults.rules.set(rule), simulator.lines.values());
  simulator.changes.budget.countRule(rule.name, costOf(written).bytes);
  for (const warning of view.warnings ?? []) log.warn({ rule: rule.name }, warning);
  return done(view);
}

function unknownRule(name: string): Refusal {
  return refusal('rule.unknown', 'name', `no rule ${name}`);
}

function ruleView(
  { rule, seed, matches, hits, lastHit, open, remaining }: RuleStatus,
  lines: Iterable<Line>,
): RuleView {
  const all = [...lines];
  const warnings = [...unservedUnits(rule, all), ...unservedDevices(rule, all)];
  return {
    ...writtenRule(rule, seed),
    matches,
    hits,
    lastHit: lastHit?.toISOString() ?? null,
    open,
    remaining: remaining ?? null,
    ...(warnings.length > 0 && { warnings }),
  };
}

function writtenRule(rule: FaultRule, seed: number) {
  return {
    name: rule.name,
    enabled: rule.enabled ?? true,
    when: rule.when,
    ...(rule.schedule && { schedule: rule.schedule.map((window) => ({ ...window })) }),
    do: rule.faults.map(({ kind, written }) => ({ [kind]: written })),
    ...(rule.becomes && { [THEN]: { ...rule.becomes } }),
    seed,
  };
}

function previewView(
  { matches, seed, plan, acted, steps: times, wire }: FaultPreview,
  { line, unitId, transactionId, pdu, seq }: PreviewRequest,
): FaultPreviewView {
  const report = { steps: times, ended: 'complete' } as const;
  const { ended: _, steps, ...view } = replyView({ plan, acted, omittedFaults: 0, report, requestedAt: 0 });
  return {
    matches,
    seed,
    request: {
      line: line.name,
      unit: unitId,
      function: pdu[0] as number,
      bytes: hex(line.bus.framing.encode({ transactionId, unitId, pdu })),
      seq: seq ?? null,
    },
    characterUs: wire ? micros(wire.characterTime) : null,
    t35Us: wire ? micros(wire.t35) : null,
    ...view,
    steps: steps.map(({ kind, bytes, plannedUs, endedUs }) => ({
      kind,
      ...(bytes !== undefined && { bytes }),
      plannedUs,
      endedUs: endedUs ?? plannedUs,
    })),
  };
}

export const RULE_FUNCTIONS = {
  'rule.list': listRules,
  'rule.past': pastRules,
  'rule.add': undoable(addRule),
  'rule.reset': undoable(resetRules),
  'rule.preview': previewRule,
  'rule.get': getRule,
  'rule.replace': undoable(replaceRule),
  'rule.switch': undoable(switchRule),
  'rule.remove': undoable(removeRule),
} satisfies FunctionsOf<typeof RULE_COMMANDS>;
