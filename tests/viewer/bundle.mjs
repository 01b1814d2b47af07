// The committed bundle equals a fresh build from its sources, and the sources pass the type check.
//   node bundle.mjs
// Works on a copy, so that a developer's node_modules and dist stay as they are.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const viewer = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'templates', 'viewer');
const scratch = mkdtempSync(join(tmpdir(), 'nsys-ai-bundle-'));
let passed = 0;
let failed = 0;

function test(name, body) {
  try {
    body();
    passed++;
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n      ${String(error.stdout ?? '')}${error.message}`);
  }
}

function npm(...command) {
  execFileSync('npm', command, { cwd: scratch, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function check(condition, message) {
  if (!condition) throw new Error(message);
}

try {
  cpSync(viewer, scratch, { recursive: true, filter: (path) => !['node_modules', 'dist'].includes(basename(path)) });
  test('the lock file names no host', () => {
    check(
      !/"resolved"|https?:\/\/(?!opencollective|github)/.test(readFileSync(join(viewer, 'package-lock.json'), 'utf8')),
      'package-lock.json names a host',
    );
  });
  test('every development dependency is pinned', () => {
    const { devDependencies, dependencies } = JSON.parse(readFileSync(join(viewer, 'package.json'), 'utf8'));
    check(dependencies === undefined, 'the bundle has no runtime dependency');
    for (const [name, version] of Object.entries(devDependencies))
      check(/^\d+\.\d+\.\d+$/.test(version), `${name} is ${version}`);
  });
  test('the pinned tools install', () => npm('ci', '--prefer-offline'));
  test('the sources pass the type check', () => npm('run', 'check'));
  test('the sources build', () => npm('run', 'build'));
  const committed = existsSync(join(viewer, 'dist')) ? readdirSync(join(viewer, 'dist')).sort() : [];
  test('the committed bundle has the files of a fresh build', () => {
    check(JSON.stringify(committed) === JSON.stringify(readdirSync(join(scratch, 'dist')).sort()), `dist holds ${committed}`);
  });
  for (const name of committed) {
    test(`${name} equals a fresh build`, () => {
      check(
        readFileSync(join(viewer, 'dist', name)).equals(readFileSync(join(scratch, 'dist', name))),
        'differs: run npm run build in templates/viewer and commit dist',
      );
    });
  }
  for (const name of ['viewer.js', 'viewer.css', 'compare.js', 'compare.css']) {
    test(`the digest of ${name} is that of its bytes`, () => {
      const digest = createHash('sha256')
        .update(readFileSync(join(viewer, 'dist', name)))
        .digest('base64');
      check(readFileSync(join(viewer, 'dist', `${name}.sha256`), 'utf8') === digest, 'digest differs');
    });
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
