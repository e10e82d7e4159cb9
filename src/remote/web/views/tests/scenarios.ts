/** A scenario that can be run unchanged or edited first. */
interface ReadyScenario {
  readonly title: string;
  readonly text: (line: string) => string;
}

/** @param steps makes the steps for a line name, as YAML */
function ready(title: string, name: string, steps: (line: string) => string): ReadyScenario {
  // A JSON string is also a YAML string.
  const text = (line: string) =>
    `name: ${name}\nline: ${JSON.stringify(line)}\nsteps:\n${steps(JSON.stringify(line))}`;
  return { title, text };
}

/**
 * Steps that first learn the client's polls, so that a retry differs from the next poll, and then apply a
 * fault to one reply.
 */
const spoilt = (name: string, line: string, fault: string) => `  - name: it polls regularly
    expect: [{}, {same: true, times: {min: 5}}]
    within: 60s
  - name: ${name}
    fault: {when: {line: ${line}, count: 1}, do: [${fault}]}
    expect: {same: true}
    within: 10s
`;

export const READY_SCENARIOS: readonly ReadyScenario[] = [
  ready(
    'The client polls',
    'the client polls',
    () => `  - name: a request comes
    expect: {}
    within: 10s
  - name: the same request comes again
    expect: [{}, {same: true}]
    within: 10s
`,
  ),
  ready(
    'Retries after silence',
    'the client retries',
    (line) => `${spoilt('one reply is missing', line, '{silence: true}')}  - name: it continues
    expect: {times: {min: 3}}
    within: 20s
`,
  ),
  ready('Survives a wrong CRC', 'the client survives a wrong CRC', (line) =>
    spoilt('a reply has a wrong CRC', line, '{crc: invert}'),
  ),
  ready(
    'Survives a dead device',
    'the client survives a dead device',
    (line) => `  - name: no device answers for 5 s
    fault: {when: {line: ${line}}, do: [{silence: true}]}
    wait: 5s
  - name: it recovers
    expect: {times: {min: 3}}
    within: 30s
`,
  ),
];
