// Kafka's jars by Maven, and our Java programs compiled against them.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { part, run } from './cache.mjs'
import { needSystem } from './system.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

/** The class path of a release, for `java -cp`: `kafka-3.9.1` is broker, tools and client (with ZooKeeper), `kafka-clients-4.4.0` the newest client alone. */
export async function classPath(release) {
  await needSystem('java')
  const pom = join(HERE, `${release}.pom.xml`)
  const folder = await part(`java/${release}`, [readFileSync(pom, 'utf8'), COPY_DEPENDENCIES], async (into) => {
    await needSystem('maven')
    await run('mvn', ['-q', '-B', '-f', pom, COPY_DEPENDENCIES, `-DoutputDirectory=${into}`, '-DincludeScope=runtime'])
  })
  return join(folder, '*')
}

/** Compiles all `.java` files of `sources` against a release and returns the class path to run them with. */
export async function compiled(name, sources, release) {
  const jars = await classPath(release)
  const files = readdirSync(sources)
    .filter((file) => file.endsWith('.java'))
    .map((file) => join(sources, file))
  const inputs = [release, ...files.map((file) => readFileSync(file, 'utf8'))]
  const classes = await part(`java/classes/${name}-${release}`, inputs, (into) =>
    run('javac', ['-nowarn', '-cp', jars, '-d', into, ...files]),
  )
  return `${classes}:${jars}`
}

/** Options for short-lived JVMs on few cores: no background compilers or collectors to speak of, logs as log4j.properties says. */
export const SMALL_JVM = [
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-Xshare:auto',
  '-Xmx512m',
  `-Dlog4j.configuration=file:${join(HERE, 'log4j.properties')}`,
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
  `-Djava.io.tmpdir=${process.env.TMPDIR ?? '/tmp'}`,
]
