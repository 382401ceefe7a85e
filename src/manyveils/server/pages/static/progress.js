// Follow a job until it is over; without scripts the page reloads itself.
const box = document.querySelector("[data-job]");
if (box) {
  const bar = box.querySelector("progress");
  const stage = box.querySelector("[data-stage]");
  const follow = async () => {
    try {
      const answer = await fetch("/api/v1/jobs/" + box.dataset.job, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        const job = await answer.json();
        if (job.state === "done" || job.state === "failed") { location.reload(); return; }
        bar.value = job.share;
        stage.textContent = job.stage || job.state;
      }
    } catch (error) { /* The server may be starting again. */ }
    setTimeout(follow, 700);
  };
  setTimeout(follow, 300);
}
