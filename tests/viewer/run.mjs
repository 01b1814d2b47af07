// Tests of report.html in headless Chromium.
//   node run.mjs [REPORT.html ...]
// Always tests generated reports with known answers; reports named on the command line get the same
// interactions, with answers recounted from report.json and the event block. VIEWER_TEST=REGEX selects tests.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { accessTests, axeTests, stopTests } from './lib/access-tests.mjs';
import { countedTests, evidenceTests } from './lib/evidence-tests.mjs';
import { exportTests } from './lib/export-tests.mjs';
import { fixtureTests } from './lib/fixture-tests.mjs';
import { equal, openBrowser, Suite } from './lib/harness.mjs';
import { consistencyTests, generalTests } from './lib/general-tests.mjs';
import { iterationTests } from './lib/iteration-tests.mjs';
import { nvtxTests } from './lib/nvtx-tests.mjs';
import { overviewTests } from './lib/overview-tests.mjs';
import { tableTests } from './lib/table-tests.mjs';
import { readReport } from './lib/read-report.mjs';
import { timelineTests } from './lib/timeline-tests.mjs';
import { makeFixture } from './make-fixture.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'nsys-ai-viewer-'));
const browser = await openBrowser();
const suite = new Suite(browser);

async function reportTests(path, mostTables) {
  const truth = readReport(path);
  const json = join(dirname(path), 'report.json');
  if (existsSync(json)) {
    await suite.test('report.html and report.json hold the same report', async () => {
      equal(truth.report, JSON.parse(readFileSync(json, 'utf8')));
    });
  }
  await generalTests(suite, path, truth);
  await overviewTests(suite, path, truth);
  await timelineTests(suite, path, truth);
  await tableTests(suite, path, truth, mostTables);
  await nvtxTests(suite, path, truth);
  await iterationTests(suite, path, truth);
  await consistencyTests(suite, truth);
  await countedTests(suite, path, truth);
  await stopTests(suite, path);
  await axeTests(suite, path);
}

try {
  suite.prefix = 'fixture: ';
  const fixture = makeFixture(join(scratch, 'fixture'));
  await reportTests(fixture.path);
  await accessTests(suite, fixture.path);
  await exportTests(suite, fixture.path, fixture);
  await evidenceTests(suite, fixture.path, fixture);
  suite.prefix = '';
  await fixtureTests(suite, scratch, fixture);
  for (const path of process.argv.slice(2)) {
    suite.prefix = `${basename(dirname(resolve(path)))}: `;
    await reportTests(resolve(path), 6); // the fixture has them all
  }
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = suite.finish();
