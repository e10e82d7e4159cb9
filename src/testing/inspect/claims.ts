import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { formatProblems } from '../../common/schema/problem.js';
import { readConfigFile } from '../../files/config/text/read-file.js';
import { blockText } from '../../files/import/native-file.js';
import { type Claims, claimsSchema } from '../claims-schema.js';
import { exceptionsIn } from './checks/claims.js';
import type { Inspection } from './inspection.js';

/** Reads a file of claims, YAML or JSON. The error has every mistake with its place. */
export function readClaims(path: string): Result<Claims> {
  const file = readConfigFile(path);
  if (!file.ok) return failure(formatProblems(path, file.problems));
  const findings = new Findings();
  const claims = new At(file.source.value, findings).check(claimsSchema);
  if (claims && findings.count === 0) return success(claims);
  return failure(formatProblems(path, file.source.locate(findings.listed)));
}

/** A file of claims that says what an inspection has found, as a first draft. */
export function claimsTemplate({ facts, log, times }: Inspection): string {
  const { functions, most, clients, broadcast } = facts;
  const rising = (codes: Iterable<number>) => [...codes].sort((a, b) => a - b);
  const claims = compact({
    functions: rising(functions.there),
    exceptions: rising(exceptionsIn(log).keys()),
    registers: most[3],
    bits: most[1],
    connections: clients,
    broadcast: broadcast || undefined,
    replyTime: times && `${Math.ceil(times.most)}ms`,
  });
  return blockText(claims, [
    'What modbus-sim inspect has found of a server, as a draft of what its maker claims.',
    'Take out what is not promised: what is left out is not judged.',
  ]);
}
