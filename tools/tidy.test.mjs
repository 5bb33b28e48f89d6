// The house rules as tests: who may import what, what rules may not touch, and that the packages are fit to publish.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = resolve(fileURLToPath(import.meta.url), '..', '..')

/** protocol ← log ← replica ← coordinator ← broker; client on protocol alone; cli on top. Whom a package may stand on. */
const BELOW = {
  '@mq/protocol': [],
  '@mq/log': ['@mq/protocol'],
  '@mq/replica': ['@mq/protocol', '@mq/log'],
  '@mq/coordinator': ['@mq/protocol'],
  '@mq/broker': ['@mq/protocol', '@mq/log', '@mq/replica', '@mq/coordinator'],
  '@mq/client': ['@mq/protocol'],
  '@mq/cli': ['@mq/protocol', '@mq/log', '@mq/client', '@mq/broker'],
}

/** Only the command line has libraries for a command line. */
const OF_THE_CLI = ['commander', 'cli-progress']

/** The world outside: clocks, timers, chance, files, sockets, workers, signals. Only the edges touch it. */
const BANNED = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.now\b/,
  /\bprocess\.hrtime\b/,
  /\b(setTimeout|setInterval|setImmediate)\b/,
  /\bprocess\.nextTick\b/,
  /\bAbortSignal\.timeout\b/,
  /\bMath\.random\b/,
  /\brandom(Bytes|UUID|Int|FillSync|Fill)\b/,
  /\bcrypto\.getRandomValues\b/,
  /(from|import\(|require\()\s*'(node:)?(fs|fs\/promises|net|tls|dgram|http|https|worker_threads|child_process|timers|timers\/promises)'/,
  /\b(gzip|gunzip|deflate|inflate|zstdCompress|zstdDecompress|brotliCompress|brotliDecompress)\(.*,\s*\(?\s*(error|err)\b/,
  /\bcreate(Gzip|Gunzip|Deflate|Inflate|ZstdCompress|ZstdDecompress)\b/,
  /\bprocess\.(on|once)\(\s*'SIG/,
  /\bprocess\.exit\b/,
]

/** A pure function that lives in a module of the outside. */
const ALLOWED = [/^import \{ isIP(v[46])? \} from 'node:net'$/]

const EDGES = ['disk-node.ts', 'time-node.ts', 'node-environment.ts', 'offload-node.ts', 'offload-thread.ts', 'main.ts']
const EDGE_FOLDERS = ['net']

const packages = readdirSync(join(ROOT, 'packages')).map((folder) => {
  const path = join(ROOT, 'packages', folder)
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const sources = filesUnder(join(path, 'src')).filter((file) => file.endsWith('.ts'))
  return { folder, path, manifest, sources }
})

for (const { path, manifest, sources } of packages) {
  describe(`${manifest.name} keeps the house rules`, () => {
    const dependencies = [...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.optionalDependencies ?? {})]

    it('stands only on packages below it', () => {
      const above = dependencies.filter((name) => name.startsWith('@mq/') && !BELOW[manifest.name].includes(name))
      assert.deepEqual(above, [])
    })

    it('imports only what it declares, by the front door', () => {
      const faults = sources.flatMap((file) =>
        importsOf(file).flatMap((name) => importFault(file, name, path, manifest.name, dependencies)),
      )
      assert.deepEqual(faults, [])
    })

    it('declares only what it imports', () => {
      const used = new Set(sources.filter((file) => !isTest(file)).flatMap((file) => importsOf(file).map(packageOf)))
      const text = sources.map((file) => readFileSync(file, 'utf8')).join('\n')
      const idle = dependencies.filter((name) => !used.has(name) && !text.includes(`'${name}`))
      assert.deepEqual(idle, [])
    })

    it('touches clocks, timers, chance, files, sockets and workers only at its edges', () => {
      const faults = sources.filter((file) => !isTest(file) && !isEdge(path, file)).flatMap(bannedIn)
      assert.deepEqual(faults, [])
    })

    it('has the libraries of a command line only where the command line is', () => {
      if (manifest.name !== '@mq/cli')
        assert.deepEqual(
          dependencies.filter((name) => OF_THE_CLI.includes(name)),
          [],
        )
    })

    it('is at 1.0.0 and pins what it stands on', () => {
      assert.equal(manifest.version, '1.0.0')
      const loose = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter(
        ([, range]) => !/^\d+\.\d+\.\d+$/.test(range),
      )
      assert.deepEqual(loose, [])
    })

    it('has one-line entries for import, so that import and require load the same state', () => {
      for (const entry of ['index.mjs', 'index.d.mts']) {
        const lines = readFileSync(join(path, entry), 'utf8')
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('//'))
        assert.deepEqual(lines.length, 1, `${entry} has ${lines.length} lines`)
      }
    })
  })
}

describe('the tree keeps the house rules', () => {
  it('opens every source file with what it is for', () => {
    const silent = packages
      .flatMap(({ sources }) => sources)
      .filter((file) => !isTest(file) && !/^(\/\/|\/\*\*|#!)/.test(readFileSync(file, 'utf8')))
    assert.deepEqual(silent.map(short), [])
  })

  it('has no file of more than 500 lines', () => {
    const long = packages
      .flatMap(({ sources }) => sources)
      .filter((file) => !isTest(file) && readFileSync(file, 'utf8').split('\n').length > 500)
    assert.deepEqual(long.map(short), [])
  })

  it('writes relative imports with the ending of the file that runs', () => {
    const apart = ['simulation', 'benchmarks', 'e2e'].flatMap((folder) => filesUnder(join(ROOT, folder, 'src')))
    const faults = [...packages.flatMap(({ sources }) => sources), ...apart.filter((file) => file.endsWith('.ts'))].flatMap(
      (file) =>
        importsOf(file)
          .filter((name) => name.startsWith('.') && !/\.(js|json)$/.test(name))
          .map((name) => `${short(file)} imports ${name}`),
    )
    assert.deepEqual(faults, [])
  })

  it('keeps registry addresses out of the lock file', () => {
    assert.ok(!/"resolved":\s*"[a-z+]*:\/\//.test(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))
  })

  it('skips no test and runs none alone', () => {
    const odd = packages
      .flatMap(({ sources }) => sources)
      .filter((file) => isTest(file) && /\b(it|describe)\.(skip|only)\(|\bxit\(|\bxdescribe\(/.test(readFileSync(file, 'utf8')))
    assert.deepEqual(odd.map(short), [])
  })

  it('names its rooms: no utils, no types, no Manager, Helper or Util', () => {
    const vague = packages
      .flatMap(({ sources }) => sources)
      .filter((file) => /^(utils?|types|helpers?|common)\.ts$|manager|helper/i.test(basename(file)))
    assert.deepEqual(vague.map(short), [])
  })
})

function importFault(file, name, packagePath, self, dependencies) {
  const place = `${short(file)} imports ${name}`
  if (name.startsWith('.')) {
    const target = resolve(file, '..', name)
    return target.startsWith(join(packagePath, 'src')) || target === join(packagePath, 'package.json') || isVectors(file, name)
      ? []
      : [`${place}: out of the package`]
  }
  if (name.startsWith('node:') || builtinModules.includes(name)) return []
  const imported = packageOf(name)
  if (imported === self) return [`${place}: itself`]
  if (imported.startsWith('@mq/') && name !== imported) return [`${place}: not by the front door`]
  if (dependencies.includes(imported)) return []
  // What tests use besides is declared at the root.
  const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return isTest(file) && imported in root.devDependencies ? [] : [`${place}: not declared`]
}

/** The given vectors are a folder of their own beside the packages; tests load it whole. */
function isVectors(file, name) {
  return isTest(file) && resolve(file, '..', name) === join(ROOT, 'conformance', 'index.js')
}

function importsOf(file) {
  const text = withoutComments(readFileSync(file, 'utf8'))
  const forms = [
    /\bfrom\s+'([^']+)'/g,
    /\bimport\s+'([^']+)'/g,
    /\bimport\(\s*'([^']+)'/g,
    /\brequire(?:\.resolve)?\(\s*'([^']+)'/g,
  ]
  return forms.flatMap((form) => [...text.matchAll(form)].map(([, name]) => name))
}

function packageOf(name) {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

function bannedIn(file) {
  return withoutComments(readFileSync(file, 'utf8'))
    .split('\n')
    .flatMap((line, at) =>
      !/^\s*import type\b/.test(line) &&
      !ALLOWED.some((allowed) => allowed.test(line.trim())) &&
      BANNED.some((banned) => banned.test(line))
        ? [`${short(file)}:${at + 1}: ${line.trim()}`]
        : [],
    )
}

/** Comments become blank, line for line. Strings with "//" in them (addresses) lose their end, which hurts no rule here. */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|[^:'"`])\/\/[^\n]*/g, '$1')
}

function isEdge(packagePath, file) {
  const path = relative(join(packagePath, 'src'), file)
  // The whole command line is a binary: it reads files, draws names and ends its process.
  return basename(packagePath) === 'cli' || EDGES.includes(basename(file)) || EDGE_FOLDERS.includes(path.split('/')[0])
}

/** Tests and what only tests use. */
function isTest(file) {
  return /\.test(\.support)?\.ts$|\.(fuzz|crash)\.ts$/.test(file) || /\/testing\//.test(file) || basename(file) === 'testing.ts'
}

function filesUnder(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function short(file) {
  return relative(ROOT, file)
}
