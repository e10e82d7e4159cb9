import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../src/modbus/protocol/framing.js';
import { plainReply } from '../../../src/modbus/protocol/reply-plan.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { trafficView } from '../../../src/simulator/traffic/view.js';
import { htmlPieces, htmlReport } from '../../../src/testing/report/html.js';
import { stripSvg } from '../../../src/testing/report/html-page.js';
import { jsonReport, reportJson } from '../../../src/testing/report/json.js';
import { junitPieces, junitReport } from '../../../src/testing/report/junit.js';
import {
  aboutText,
  type Finding,
  overallVerdict,
  type Report,
  viewOnDemand,
  viewReport,
} from '../../../src/testing/report/report.js';
import { clientReportSchema } from '../../../src/testing/report/shapes.js';
import { escaped } from '../../../src/testing/report/words.js';
import { bytesOf } from '../../modbus/protocol/hex.js';

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

const ABOUT = {
  group: 'time',
  does: 'Waits.',
  matters: 'It <does>.',
  rule: 'Passes.',
  fix: 'Mend it.',
  source: 'nobody',
};
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

describe('the report on a client test in HTML', () => {
  const html = htmlReport([CLIENT_TEST]);

  it('begins with what was found, and counts the verdicts', () => {
    expect(html).toContain('<p class="first">Gives up after 487 ± 3 ms.</p>');
    expect(html).toContain('<p>Takes a late reply for the next one: dangerous.</p>');
    expect(html).toContain(
      '<li><b>Does not pass: a fail.</b> It &lt;does&gt;. <em>To mend:</em> Mend it.</li>',
    );
    expect(html).toMatch(/<b>1<\/b> passed[\s\S]*<b>1<\/b> not reached/);
  });

  it('begins with the failure where a check has failed, and with what became of the client', () => {
    const failed = { ...finding('fail', { conclusion: 'takes a late reply', about: ABOUT }), frames: [] };
    const conclusions = ['Takes a late reply.', 'Asks 2 times.'];
    const page = (more: readonly string[]) =>
      htmlReport([{ ...CLIENT_TEST, conclusions: [...more, ...conclusions], findings: [failed] }]);
    expect(page([])).toMatch(
      /<p class="first">One check has failed:<\/p>\s*<ol><li><b>Takes a late reply\.<\/b>.*<\/ol>\s*<p>Asks 2 times\.<\/p>/,
    );
    expect(page(['The client is gone.'])).toMatch(
      /<p class="first">The client is gone\.<\/p>\s*<ol>.*<\/ol>\s*<p>Asks 2 times\.<\/p>/,
    );
  });

  it('has a first page of ten lines, however many checks have failed', () => {
    const failed = Array.from({ length: 30 }, (_, i) =>
      finding('fail', { id: `${i}`, conclusion: `does thing ${i}`, about: ABOUT }),
    );
    const conclusions = [
      'The client is gone.',
      'Gives up after 487 ms.',
      ...failed.map((_, i) => `Does thing ${i}.`),
    ];
    const page = htmlReport([
      { ...CLIENT_TEST, conclusions, findings: failed.map((each) => ({ ...each, frames: [] })) },
    ]);
    const [found = ''] = /<section class="found">[\s\S]*?<\/section>/.exec(page) ?? [];
    expect(found.match(/<p|<li/g)?.length).toBeLessThanOrEqual(10);
    expect(found).toContain('<b>Does thing 0.</b>');
    expect(found).toContain('26 more checks have failed.');
  });

  it('says of each check why it matters, and leaves out evidence of what was not run', () => {
    expect(html).toContain('<dd>It &lt;does&gt;.</dd>');
    expect(html).toContain('id="report-1-fail"');
    expect(html).not.toContain('id="report-1-not-run"');
    for (const [, anchor] of html.matchAll(/href="#([^"]+)"/g)) expect(html).toContain(`id="${anchor}"`);
  });
});

describe('the report in HTML', () => {
  const html = htmlReport([viewReport(REPORT, 'devices: {}\n', shown)]);

  it('needs nothing from the network', () => {
    expect(html).not.toMatch(/\b(src|href)=["'](?!#)|@import|url\(|<script/);
  });

  it('has parameters, verdicts, evidence, configuration, versions and the seed', () => {
    for (const text of ['487 ± 3 ms', 'seed 4711', '#7', 'devices: {}', 'modbus-sim 1.2.3', 'inconclusive'])
      expect(html).toContain(text);
    expect(html).toContain('a &lt;test&gt;');
  });

  it('draws request, t3.5 and reply of a finding', () => {
    const [strip = ''] = /<svg[\s\S]*?<\/svg>/.exec(html) ?? [];
    for (const look of ['request', 'reply', 'planned']) expect(strip).toContain(`<path class="${look}"`);
    expect(strip).toContain('8.000 ms long: unit 1 read holding registers 0: 5</title>');
  });
});

describe('the strip of a report', () => {
  const { frames } = viewReport(REPORT, 'devices: {}\n', shown).findings[0] ?? { frames: [] };
  const [frame] = frames;
  const at = (seq: number, monotonicUs: number) =>
    ({
      ...frame,
      seq,
      kind: 'request',
      startedUs: monotonicUs - 8000,
      monotonicUs,
    }) as (typeof frames)[number];
  const boxes = (svg: string) =>
    Array.from(svg.matchAll(/class="request" d="M([\d.]+) \d[\d.]*h([\d.]+)/g), ([, x, width]) => [
      Number(x),
      Number(width),
    ]);

  it('is to scale where the pauses are short', () => {
    const svg = stripSvg([at(1, 10_000), at(2, 30_000), at(3, 60_000)]);
    const [a = [], b = [], c = []] = boxes(svg);
    expect(((c[0] ?? 0) - (b[0] ?? 0)) / ((b[0] ?? 0) - (a[0] ?? 0))).toBeCloseTo(1.5, 1);
    expect(svg).not.toContain('class="cut"');
  });

  it('marks where a long pause is cut out, and names its length', () => {
    const svg = stripSvg([at(1, 10_000), at(2, 10_010_000)]);
    expect(svg.match(/class="cut"/g)).toHaveLength(1);
    expect(svg).toContain('9992.000 ms');
    const [a = [], b = []] = boxes(svg);
    expect(a[1]).toBeGreaterThan(100);
    expect(a[1]).toBeCloseTo(b[1] ?? 0, 0);
  });

  it('is nothing without frames', () => expect(stripSvg([])).toBe(''));
});

it('says what was tested, by whom, and a remark in every form', () => {
  const about = { client: 'gateway <2.1>', tester: 'A. Bee', remark: 'new firmware' };
  const test = viewReport({ ...REPORT, about }, '', shown);
  const clientTest = viewReport({ ...REPORT, kind: 'client', about }, '', shown);
  expect(htmlReport([test])).toContain('<p>gateway &lt;2.1&gt;, tested by A. Bee: new firmware</p>');
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
  // The strip looks, too.
  expect(most(htmlPieces([report]))).toBeLessThan(4 * once);
  expect(most(junitPieces([report]))).toBeLessThan(4 * once);
  expect([...htmlPieces([report])].join('')).toBe(htmlReport([viewReport(source, '', shown)]));
});
