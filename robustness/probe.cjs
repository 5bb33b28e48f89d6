// Loaded before the broker (`node --require`): tells its parent what memory it holds after a forced collection.
process.on('message', async () => {
  // Finalizers run between turns, and what they free goes in the next collection.
  for (let round = 0; round < 4; round++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, arrayBuffers, external, rss } = process.memoryUsage()
  process.send({ heapUsed, arrayBuffers, external, rss })
})
process.channel?.unref()
