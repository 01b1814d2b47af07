// Reads Parquet files with a program of others and prints them as JSON: parquet.mjs hyparquet|duckdb FILE...
// Each: {columns: [{name, type, optional}], groups: [rows of each], metadata, rows: [[cell]], statistics: [...]}; integers as texts.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const plain = (v) => typeof v === 'bigint' ? { int: String(v) } : typeof v === 'number' ? { real: Object.is(v, -0) ? '-0' : String(v) } : v ?? null

async function hyparquet(path) {
  const { parquetMetadata, parquetRead } = await import('hyparquet')
  const bytes = readFileSync(path)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const metadata = parquetMetadata(file)
  const columns = metadata.schema.slice(1).map(c => ({ name: c.name, type: c.type + (c.converted_type ?? ''), optional: c.repetition_type === 'OPTIONAL' }))
  const rows = Array.from({ length: Number(metadata.num_rows) }, () => new Array(columns.length).fill(null))
  await parquetRead({
    file, metadata, rowFormat: 'array', compressors: { GZIP: gunzipSync },
    onComplete: data => data.forEach((row, i) => row.forEach((v, c) => { rows[i][c] = plain(v) })),
  })
  const statistics = metadata.row_groups.map(g => g.columns.map(c => {
    const s = c.meta_data.statistics
    return { nulls: Number(s.null_count), min: plain(s.min_value), max: plain(s.max_value) }
  }))
  return {
    columns, rows, statistics, groups: metadata.row_groups.map(g => Number(g.num_rows)),
    metadata: Object.fromEntries((metadata.key_value_metadata ?? []).map(k => [k.key, k.value])),
    codecs: [...new Set(metadata.row_groups.flatMap(g => g.columns.map(c => c.meta_data.codec)))],
  }
}

async function duckdb(path) {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const from = `read_parquet('${path.replaceAll("'", "''")}')`
  const described = await db.runAndReadAll(`describe select * from ${from}`)
  const all = await db.runAndReadAll(`select * from ${from}`)
  return {
    columns: described.getRowObjects().map(c => ({ name: c.column_name, type: c.column_type })),
    rows: all.getRows().map(row => row.map(plain)),
  }
}

const reader = { hyparquet, duckdb }[process.argv[2]]
const out = []
for (const path of process.argv.slice(3))
  out.push(await reader(path))
process.stdout.write(JSON.stringify(out))
