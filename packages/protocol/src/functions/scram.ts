/** SCRAM credentials (RFC 5802) as Kafka derives and stores them. Passwords are taken as UTF-8, without SASLprep. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'

const SCRAM_HASHES = { 'SCRAM-SHA-256': 'sha256', 'SCRAM-SHA-512': 'sha512' } as const

export type ScramMechanism = keyof typeof SCRAM_HASHES

export interface ScramCredential {
  readonly salt: Buffer
  readonly storedKey: Buffer
  readonly serverKey: Buffer
  readonly iterations: number
}

export function scramSaltedPassword(mechanism: ScramMechanism, password: string, salt: Buffer, iterations: number): Buffer {
  const hash = SCRAM_HASHES[mechanism]
  return pbkdf2Sync(Buffer.from(password, 'utf8'), salt, iterations, hash === 'sha256' ? 32 : 64, hash)
}

/** What a broker keeps of a salted password: enough to check a client, not enough to be one. */
export function scramCredential(
  mechanism: ScramMechanism,
  saltedPassword: Buffer,
  salt: Buffer,
  iterations: number,
): ScramCredential {
  const hash = SCRAM_HASHES[mechanism]
  const clientKey = createHmac(hash, saltedPassword).update('Client Key').digest()
  const storedKey = createHash(hash).update(clientKey).digest()
  const serverKey = createHmac(hash, saltedPassword).update('Server Key').digest()
  return { salt, storedKey, serverKey, iterations }
}

/** The text under a user's node in ZooKeeper. */
export function scramCredentialText({ salt, storedKey, serverKey, iterations }: ScramCredential): string {
  const text = (bytes: Buffer): string => bytes.toString('base64')
  return `salt=${text(salt)},stored_key=${text(storedKey)},server_key=${text(serverKey)},iterations=${iterations}`
}
