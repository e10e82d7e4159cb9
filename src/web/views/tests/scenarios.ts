/** A scenario that can be run as it is, or as a beginning. */
interface ReadyScenario {
  readonly title: string;
  readonly text: (line: string) => string;
}

/** A name in YAML: JSON's strings are YAML's, too. */
const quoted = (line: string) => JSON.stringify(line);

/** Shows how often everything is polled, so that a retry differs from the next poll. */
const POLLS = `  - name: it polls the same again and again
    expect: [{}, {same: true, times: {min: 5}}]
    within: 60s
`;

export const READY_SCENARIOS: readonly ReadyScenario[] = [
  {
    title: 'The client polls',
    text: (line) => `name: the client polls
line: ${quoted(line)}
steps:
  - name: a request comes
    expect: {}
    within: 10s
  - name: the same request comes again
    expect: [{}, {same: true}]
    within: 10s
`,
  },
  {
    title: 'Asks again after silence',
    text: (line) => `name: the client asks again
line: ${quoted(line)}
steps:
${POLLS}  - name: one reply is missing
    fault: {when: {line: ${quoted(line)}, count: 1}, do: [{silence: true}]}
    expect: {same: true}
    within: 10s
  - name: it goes on
    expect: {times: {min: 3}}
    within: 20s
`,
  },
  {
    title: 'Survives a wrong CRC',
    text: (line) => `name: the client survives a wrong CRC
line: ${quoted(line)}
steps:
${POLLS}  - name: a reply has a wrong CRC
    fault: {when: {line: ${quoted(line)}, count: 1}, do: [{crc: invert}]}
    expect: {same: true}
    within: 10s
`,
  },
  {
    title: 'Survives a dead device',
    text: (line) => `name: the client survives a dead device
line: ${quoted(line)}
steps:
  - name: nobody answers for 5 s
    fault: {when: {line: ${quoted(line)}}, do: [{silence: true}]}
    wait: 5s
  - name: it comes back
    expect: {times: {min: 3}}
    within: 30s
`,
  },
];
