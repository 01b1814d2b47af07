// Writes the tables of an export as a folder of Parquet files, with programs of others:
//   parquet_folder.mjs duckdb|arrow TABLES.json FOLDER CODEC VERSION DICTIONARY
// TABLES.json: {TABLE: {columns: [[name, "INTEGER"|"REAL"|"TEXT"|"BLOB"]], rows: [[cell]]}}; integers as texts, blobs in hexadecimal.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const [, , writer, source, folder, codec, version, dictionary] = process.argv
const tables = JSON.parse(readFileSync(source, 'utf8'))
mkdirSync(folder, { recursive: true })

async function duckdb() {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const types = { INTEGER: 'BIGINT', REAL: 'DOUBLE', TEXT: 'VARCHAR', BLOB: 'BLOB' }
  const literal = (v, type) => v === null ? 'NULL' : type === 'BLOB' ? `from_hex('${v}')`
    : type === 'TEXT' ? "'" + v.replaceAll("'", "''").replaceAll('\0', "' || chr(0) || '") + "'" : v
  for (const [name, { columns, rows }] of Object.entries(tables)) {
    await db.run(`create or replace table t (${columns.map(([c, type]) => `"${c}" ${types[type]}`).join(', ')})`)
    for (let i = 0; i < rows.length; i += 200)
      await db.run(`insert into t values ${rows.slice(i, i + 200).map(row => `(${row.map((v, c) => literal(v, columns[c][1])).join(', ')})`).join(', ')}`)
    await db.run(`copy t to '${folder}/${name}.parquet' (format parquet, compression '${codec}', parquet_version '${version}', row_group_size 2048
      ${dictionary === '0' ? ', dictionary_size_limit 1' : ''})`)
  }
}

async function arrow() {
  const { makeVector, vectorFromArray, Table, Int64, Float64, Utf8, Binary, tableToIPC } = await import('apache-arrow')
  const parquet = await import('parquet-wasm/node')
  const types = { INTEGER: () => new Int64(), REAL: () => new Float64(), TEXT: () => new Utf8(), BLOB: () => new Binary() }
  const cell = (v, type) => v === null ? null : type === 'INTEGER' ? BigInt(v) : type === 'REAL' ? Number(v) : type === 'BLOB' ? Buffer.from(v, 'hex') : v
  const properties = () => new parquet.WriterPropertiesBuilder().setCompression(parquet.Compression[codec.toUpperCase()])
    .setWriterVersion(version === 'V2' ? parquet.WriterVersion.V2 : parquet.WriterVersion.V1).setDictionaryEnabled(dictionary !== '0')
    .setMaxRowGroupSize(1000).setDataPageSizeLimit(2000).build()
  for (const [name, { columns, rows }] of Object.entries(tables)) {
    const vectors = Object.fromEntries(columns.map(([c, type], i) => [c, vectorFromArray(rows.map(row => cell(row[i], type)), types[type]())]))
    writeFileSync(`${folder}/${name}.parquet`, parquet.writeParquet(parquet.Table.fromIPCStream(tableToIPC(new Table(vectors), 'stream')), properties()))
  }
}

await { duckdb, arrow }[writer]()
