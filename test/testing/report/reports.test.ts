import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Piece } from '../../../src/common/timeline/pieces.js';
import { SOCKET } from '../../../src/modbus/protocol/framing.js';
import { plainReply } from '../../../src/modbus/protocol/reply-plan.js';
import { countsOf, firstPage } from '../../../src/remote/web/views/report/first-page.js';
import { decidingSpan } from '../../../src/remote/web/views/tests/deciding-span.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { trafficView } from '../../../src/simulator/traffic/view.js';
import {
  htmlPieces,
  htmlReport,
  type Recorded,
  type RecordedReport,
} from '../../../src/testing/report/html.js';
import { jsonReport, reportJson } from '../../../src/testing/report/json.js';
import { junitPieces, junitReport } from '../../../src/testing/report/junit.js';
import {
  type Finding,
  overallVerdict,
  type Report,
  viewOnDemand,
  viewReport,
} from '../../../src/testing/report/report.js';
import { clientReportSchema } from '../../../src/testing/report/shapes.js';
import { aboutText, escaped } from '../../../src/testing/report/words.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { ABOUT } from './about.js';

const ADU = SOCKET.encode({ unitId: 1, transactionId: 1, pdu: bytesOf('03 00 00 00 01') });
const COMMON = { line: 'bus', client: undefined, clientId: 1, framing: SOCKET, unitId: 1, functionCode: 3 };

const REQUEST: FrameEvent = {
  ...COMMON,
  kind: 'request',
  seq: 7,
  at: 1000,
  time: 1000,
  startedAt: 992,
  bytes: ADU,
  pause: undefined,
  characterTime: 1,
  answers: undefined,
};

const STEP = {
  plannedAt: 1004,
  achievedAt: 1004,
  endedAt: 1012,
  uncertainty: 0,
  outcome: 'achieved',
} as const;

const REPLY: ReplyEvent = {
  ...COMMON,
  kind: 'reply',
  seq: 8,
  at: 1004,
  time: 1004,
  request: 7,
  requestAdu: ADU,
  requestedAt: 1000,
  plan: plainReply(SOCKET.encode({ unitId: 1, transactionId: 1, pdu: bytesOf('03 02 00 05') })),
  report: { steps: [STEP], ended: 'complete' },
  acted: [],
  omittedFaults: 0,
};

const shown = (event: TrafficEvent) => trafficView(event, () => undefined);

function finding(verdict: Finding['verdict'], others: Partial<Finding> = {}): Finding {
  return {
    id: verdict,
    title: `a ${verdict}`,
    verdict,
    summary: 'why',
    frames: [],
    durationMs: 1500,
    ...others,
  };
}

const REPORT: Report = {
  kind: 'scenario',
  name: 'a <test> & "more"',
  startedAt: 0,
  durationMs: 2500,
  verdict: 'fail',
  isStopped: false,
  line: 'bus',
  seed: 4711,
  conclusions: ['1 of 5 steps passed.'],
  parameters: [{ name: 'response time-out', value: '487 ± 3 ms' }],
  findings: [
    finding('pass', { frames: [REQUEST, REPLY] }),
    finding('fail', { summary: 'a bell \u0007 and </failure>\nsecond line' }),
    finding('inconclusive'),
    finding('not run'),
    finding('error'),
  ],
  versions: [{ name: 'modbus-sim', version: '1.2.3' }],
};

describe('the report in JUnit XML', () => {
  const xml = junitReport([viewReport(REPORT, 'devices: {}\n', shown)]);

  it('counts as CI systems do, and skips what is inconclusive', () => {
    expect(xml).toMatch(/<testsuite name="[^"]*" tests="5" failures="1" errors="1" skipped="2" time="2.500"/);
    expect(xml).toContain('<skipped message="why" type="inconclusive">why</skipped>');
  });

  it.each(['scenario', 'client'] as const)(
    'takes what is inconclusive in a %s for a failure where that is wanted',
    (kind) => {
      const wanted = junitReport([viewReport({ ...REPORT, kind }, '', shown)], 'failure');
      expect(wanted).toMatch(/failures="2" errors="1" skipped="1"/);
      expect(wanted).toContain('<failure message="why" type="inconclusive">why</failure>');
    },
  );

  it('escapes markup and what XML forbids', () => {
    expect(xml).toContain('name="a &lt;test&gt; &amp; &quot;more&quot;"');
    expect(xml).toContain('>a bell \\x07 and &lt;/failure&gt;\nsecond line</failure>');
    expect(xml).toContain('message="a bell \\x07 and &lt;/failure&gt;" ');
    expect(escaped('\ud800 \ufffe 😀\t')).toBe('\\ud800 \\ufffe 😀\t');
  });

  it('shows the frames with their sequence numbers and times', () => {
    expect(xml).toContain('#7 1970-01-01T00:00:01.000000Z unit 1 read holding registers 0  00 01');
  });
});

describe('the report in JSON', () => {
  it('is an object for one test and a list for several', () => {
    const one = JSON.parse(jsonReport([viewReport(REPORT, 'devices: {}\n', shown)])) as Record<
      string,
      unknown
    >;
    expect(one).toMatchObject({
      name: REPORT.name,
      verdict: 'fail',
      seed: 4711,
      steps: [
        { name: 'a pass', verdict: 'pass', message: 'why', frames: [{ seq: 7 }, { seq: 8 }] },
        {},
        {},
        {},
        {},
      ],
    });
    expect(
      JSON.parse(
        jsonReport([viewReport(REPORT, 'devices: {}\n', shown), viewReport(REPORT, 'devices: {}\n', shown)]),
      ),
    ).toEqual([one, one]);
  });
});

const CLIENT_TEST = viewReport(
  {
    ...REPORT,
    kind: 'client',
    name: 'the client on line bus',
    conclusions: ['Gives up after 487 ± 3 ms.', 'Takes a late reply for the next one: dangerous.'],
    found: {
      timeoutMs: { value: 487.123, plusMinus: 2.999 },
      retries: 2,
      pausesMs: [100.04, 200],
      pollPeriodMs: 1000,
    },
    findings: REPORT.findings.map((each) => ({ ...each, about: ABOUT })),
  },
  'devices: {}\n',
  shown,
);

describe('the JSON of a client test', () => {
  it('fits its schema, and has what was found in numbers', () => {
    const json: unknown = JSON.parse(jsonReport([CLIENT_TEST]));
    const { found, checks, line, seed } = clientReportSchema.parse(json);
    expect({ line, seed }).toEqual({ line: 'bus', seed: 4711 });
    expect(found).toEqual({
      timeoutMs: { value: 487.1, plusMinus: 3 },
      retries: 2,
      pausesMs: [100, 200],
      pollPeriodMs: 1000,
    });
    expect(checks[0]).toMatchObject({
      id: 'pass',
      group: 'time',
      verdict: 'pass',
      frames: [{ seq: 7 }, { seq: 8 }],
    });
    expect(checks.map(({ verdict }) => verdict)).toEqual([
      'pass',
      'fail',
      'inconclusive',
      'not run',
      'error',
    ]);
  });
});

/** What a page of reports shows. */
function recordedIn(html: string): Recorded {
  const [, data = ''] = /<script type="application\/json" id="recorded">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(data) as Recorded;
}

describe('the first page of a report in HTML', () => {
  const first = (report: Partial<RecordedReport>) => firstPage({ ...CLIENT_TEST, ...report });

  it('begins with the failure where a check has failed, and with what became of the client', () => {
    const failed = { ...finding('fail', { conclusion: 'takes a late reply', about: ABOUT }), frames: [] };
    const conclusions = ['Takes a late reply.', 'Asks 2 times.'];
    const blamed = [{ finding: failed, what: 'Takes a late reply.' }];
    const rest = { blamed, more: '', after: ['Asks 2 times.'] };
    expect(first({ conclusions, findings: [failed] })).toEqual({
      before: ['One check failed:'],
      ...rest,
    });
    expect(first({ conclusions: ['The client is gone.', ...conclusions], findings: [failed] })).toEqual({
      before: ['The client is gone.'],
      ...rest,
    });
  });

  it('has ten lines, however many checks have failed', () => {
    const findings = Array.from({ length: 30 }, (_, i) => ({
      ...finding('fail', { id: `${i}`, conclusion: `does thing ${i}`, about: ABOUT }),
      frames: [],
    }));
    const conclusions = [
      'The client is gone.',
      'Gives up after 487 ms.',
      ...findings.map((_, i) => `Does thing ${i}.`),
    ];
    const { before, blamed, more, after } = first({ conclusions, findings });
    expect(before.length + blamed.length + after.length + 1).toBeLessThanOrEqual(10);
    expect(blamed[0]?.what).toBe('Does thing 0.');
    expect(more).toBe('26 more checks failed.');
  });

  it('counts the verdicts', () => {
    expect(countsOf(CLIENT_TEST).map(({ many, word }) => `${many} ${word}`)).toEqual([
      '1 passed',
      '1 failed',
      '1 inconclusive: the traffic did not allow a verdict',
      '1 could not be run',
      '1 not reached',
    ]);
  });
});

describe('the report in HTML', () => {
  const view = viewReport(REPORT, 'devices: {}\n', shown);
  const html = htmlReport([view]);

  it('needs nothing from the network, and lets nothing run but the console', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
    );
    for (const [kind, text] of [
      ['script', /<script type="module">(.*?)<\/script>/s.exec(html)?.[1]],
      ['style', /<style>(.*?)<\/style>/s.exec(html)?.[1]],
    ] as const)
      expect(policy).toContain(
        `${kind}-src 'sha256-${createHash('sha256')
          .update(text ?? '')
          .digest('base64')}'`,
      );
  });

  it('holds the reports as they are, and no text in them ends the element', () => {
    const name = '</script><!--<script>\u2028\ud800';
    const page = htmlReport([{ ...view, name }]);
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(recordedIn(page).reports).toEqual(JSON.parse(JSON.stringify([{ ...view, name }])));
  });

  it('says the same in plain words', () => {
    const [, words] = /<pre>(.*?)<\/pre>/s.exec(html) ?? [];
    for (const text of [
      'a &lt;test&gt; &amp; &quot;more&quot;: fail',
      'seed 4711',
      '1 of 5 steps passed.',
      'inconclusive: a inconclusive: why',
    ])
      expect(words).toContain(text);
  });

  it('is under 1 MB without traffic', () => expect(html.length).toBeLessThan(1_000_000));
});

describe('what a strip of evidence shows first', () => {
  const piece = (startUs: number, endUs: number, lane: Piece['lane'] = 'received') =>
    ({ id: 1, lane, look: 'request', startUs, endUs, label: '', words: '' }) as const;

  it('is what comes after the last long pause', () => {
    const early = [piece(0, 8000), piece(10_000, 12_000)];
    expect(
      decidingSpan([...early, piece(10_000_000, 10_008_000), piece(10_010_000, 10_015_000, 'sent')]),
    ).toEqual({
      from: 10_000_000,
      to: 10_015_000,
    });
    expect(decidingSpan(early)).toEqual({ from: 0, to: 12_000 });
    expect(decidingSpan([])).toEqual({ from: 0, to: 0 });
  });
});

it('says what was tested, by whom, and a remark in every form', () => {
  const about = { client: 'gateway <2.1>', tester: 'A. Bee', remark: 'new firmware' };
  const test = viewReport({ ...REPORT, about }, '', shown);
  const clientTest = viewReport({ ...REPORT, kind: 'client', about }, '', shown);
  expect(recordedIn(htmlReport([test])).reports[0]).toMatchObject({ about });
  expect(junitReport([test])).toContain('<property name="client" value="gateway &lt;2.1&gt;"/>');
  expect(junitReport([test])).toContain('<property name="remark" value="new firmware"/>');
  expect(JSON.parse(jsonReport([test]))).toMatchObject({ about });
  expect(clientReportSchema.parse(JSON.parse(jsonReport([clientTest])))).toMatchObject({ about });
  expect(aboutText({ remark: 'new firmware' })).toBe('new firmware');
  expect(jsonReport([viewReport(REPORT, 'devices: {}\n', shown)])).not.toContain('"about"');
});

describe('the verdict on all of it', () => {
  it('is the worst one, and passes only when everything has passed', () => {
    expect(overallVerdict(['pass', 'fail', 'error', 'inconclusive'])).toBe('error');
    expect(overallVerdict(['pass', 'inconclusive', 'fail'])).toBe('fail');
    expect(overallVerdict(['pass', 'not run'])).toBe('inconclusive');
    expect(overallVerdict(['pass', 'pass'])).toBe('pass');
    expect(overallVerdict([])).toBe('inconclusive');
  });
});

it('makes what a finding shows when its piece of a document is made, and not before', () => {
  let looks = 0;
  const reply: ReplyEvent = {
    ...REPLY,
    get plan() {
      looks++;
      return REPLY.plan;
    },
  };
  const source = {
    ...REPORT,
    findings: Array.from({ length: 20 }, (_, i) => finding('fail', { id: `${i}`, frames: [reply] })),
  };
  const report = viewOnDemand(source, '', shown);
  const most = (pieces: Iterable<unknown>) => {
    let [before, longest] = [looks, 0];
    for (const _ of pieces) {
      longest = Math.max(longest, looks - before);
      before = looks;
    }
    return longest;
  };
  const once = most(reportJson(report).steps as Iterable<unknown>);
  expect(once).toBeGreaterThan(0);
  expect(most(htmlPieces([report]))).toBeLessThan(4 * once);
  expect(most(junitPieces([report]))).toBeLessThan(4 * once);
  expect([...htmlPieces([report])].join('')).toBe(htmlReport([viewReport(source, '', shown)]));
});
