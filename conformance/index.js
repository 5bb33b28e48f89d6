// The given vectors for tests and for the conformance runner: reads them packed (this folder) or from an unpacked folder
// of the same layout. Not published, depends on nothing; tests of every package import it by its relative path.
'use strict'
const { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join, resolve, sep } = require('node:path')
const { gunzipSync } = require('node:zlib')
const { summary } = require('./records-summary.js')
const { tarEntries } = require('./tar.js')

const GROUPS = ['messages', 'records', 'misc', 'datadirs', 'znodes', 'interbroker', 'golden', 'configs']

class Vectors {
  #folder
  #packed = new Map()

  constructor(folder) {
    this.#folder = folder
  }

  groups() {
    return GROUPS.filter((group) => existsSync(join(this.#folder, group)) || existsSync(this.#archive(group)))
  }

  files(prefix) {
    const group = groupOf(prefix)
    const names = this.#isUnpacked(group) ? walk(this.#folder, group) : [...this.#entries(group).keys()]
    return names.filter((name) => name === prefix || name.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`)).sort()
  }

  bytes(path) {
    const group = groupOf(path)
    if (this.#isUnpacked(group)) return readFileSync(join(this.#folder, path))
    const bytes = this.#entries(group).get(path)
    if (bytes === undefined) throw new Error(`conformance: there is no ${path} in ${this.#archive(group)}`)
    return bytes
  }

  text(path) {
    return this.bytes(path).toString('utf8')
  }

  json(path) {
    return JSON.parse(this.text(path))
  }

  lines(path) {
    return this.text(path).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
  }

  datadirs() {
    return this.files('datadirs')
      .filter((path) => path.endsWith('.tar.gz'))
      .map((path) => path.slice('datadirs/'.length, -'.tar.gz'.length))
  }

  extractDatadir(variant, into) {
    const folder = into ?? mkdtempSync(join(tmpdir(), 'mq-datadir-'))
    extract(gunzipSync(this.bytes(`datadirs/${variant}.tar.gz`)), folder)
    return { logs: join(folder, 'logs'), folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
  }

  #archive(group) {
    return join(this.#folder, `${group}.tar.gz`)
  }

  #isUnpacked(group) {
    return existsSync(join(this.#folder, group))
  }

  #entries(group) {
    let entries = this.#packed.get(group)
    if (entries === undefined) {
      entries = new Map()
      for (const { name, kind, bytes } of tarEntries(gunzipSync(readFileSync(this.#archive(group))))) {
        if (kind === 'file') entries.set(name, bytes)
      }
      this.#packed.set(group, entries)
    }
    return entries
  }
}

function extract(archive, into) {
  const root = resolve(into)
  const modified = []
  for (const { name, kind, modifiedSeconds, bytes } of tarEntries(archive)) {
    const path = resolve(root, name)
    if (path !== root && !path.startsWith(root + sep)) throw new Error(`tar: ${name} points out of the archive`)
    if (kind === 'directory') mkdirSync(path, { recursive: true })
    else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    }
    modified.push({ path, modifiedSeconds })
  }
  // Backwards, so that a directory's time is set after its files were written.
  for (const { path, modifiedSeconds } of modified.reverse()) utimesSync(path, modifiedSeconds, modifiedSeconds)
}

function walk(root, under) {
  return readdirSync(join(root, under)).flatMap((name) => {
    const path = `${under}/${name}`
    return statSync(join(root, path)).isDirectory() ? walk(root, path) : [path]
  })
}

function groupOf(path) {
  const group = path.split('/', 1)[0]
  if (!GROUPS.includes(group)) throw new Error(`conformance: ${path} is in no group (${GROUPS.join(', ')})`)
  return group
}

function openVectors(folder) {
  const found = new Vectors(resolve(folder))
  if (found.groups().length === 0) throw new Error(`conformance: no vectors in ${resolve(folder)}`)
  return found
}

module.exports = { openVectors, summary, vectors: new Vectors(__dirname) }
