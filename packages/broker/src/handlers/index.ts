/** The APIs we serve, one line each. ApiVersions is answered from this list, so what we claim and what we do cannot drift apart. */
import type { Handler } from './handler.js'

export const HANDLERS: readonly Handler[] = []
