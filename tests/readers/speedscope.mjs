// Opens files in speedscope in headless Chromium and complains of what speedscope complains of: speedscope.mjs FILE...
// Prints for each {file, profiles: how many it offers, problems: [...]}.
import { createServer } from 'node:http'
import { readFileSync, existsSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { createRequire } from 'node:module'

const root = join(import.meta.dirname, 'node_modules', 'speedscope', 'dist', 'release')
const { chromium } = createRequire(join(import.meta.dirname, '../../templates/viewer/package.json'))('playwright-core')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' }
const files = process.argv.slice(2)

const server = createServer((request, answer) => {
  const name = decodeURIComponent(new URL(request.url, 'http://x').pathname.slice(1)) || 'index.html'
  const given = files.find((file, i) => name === `given/${i}/${basename(file)}`)
  const path = given ?? join(root, name)
  if (!given && (name.includes('..') || !existsSync(path)))
    return void answer.writeHead(404).end()
  answer.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path))
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const origin = `http://127.0.0.1:${server.address().port}`
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', '--use-gl=swiftshader', '--enable-unsafe-swiftshader'] })
const out = []
for (const [i, file] of files.entries()) {
  const page = await browser.newPage()
  const problems = []
  page.on('console', message => { if (/Tried to end|still open|[Ee]rror|failed/.test(message.text())) problems.push(message.text()) })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('dialog', dialog => { problems.push(dialog.message()); dialog.dismiss() })
  await page.goto(`${origin}/index.html#profileURL=${encodeURIComponent(`${origin}/given/${i}/${basename(file)}`)}`)
  let title = ''
  for (let waited = 0; waited < 30000 && !problems.length && !/\S+ - speedscope|\(\d+\/\d+\)/.test(title); waited += 100) {
    await page.waitForTimeout(100)
    title = await page.title() + ' ' + await page.evaluate(() => document.body.innerText.slice(0, 300))
  }
  out.push({ file: basename(file), title, problems })
  await page.close()
}
await browser.close()
server.close()
process.stdout.write(JSON.stringify(out))
